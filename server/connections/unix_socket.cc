#include "server/connections/unix_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/op_error.h"

namespace opserve::server {
namespace {

constexpr std::string_view kScheme = "unix:";

enum class FileKind { kNone, kSocket, kOther };

FileKind KindOf(const std::string& path) {
  struct stat info = {};
  if (::lstat(path.c_str(), &info) != 0) return FileKind::kNone;
  return S_ISSOCK(info.st_mode) ? FileKind::kSocket : FileKind::kOther;
}

// Whether a connection is refused for want of a listener.
bool IsStale(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return false;
  std::memcpy(address.sun_path, path.data(), path.size());
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return false;
  const int result = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  const bool refused = result != 0 && errno == ECONNREFUSED;
  ::close(fd);
  return refused;
}

absl::Status Taken(const std::string& path, std::string_view flag, std::string_view got) {
  return InvalidParameter(flag, "a path for a new socket",
                          std::string("unix:").append(path).append(", ").append(got));
}

}  // namespace

std::string UnixSocketPath(std::string_view address) {
  if (address.substr(0, kScheme.size()) != kScheme) return {};
  address.remove_prefix(kScheme.size());
  if (address.substr(0, 3) == "///") address.remove_prefix(2);
  return std::string(address);
}

absl::Status RemoveStaleSocket(const std::string& path, std::string_view flag) {
  switch (KindOf(path)) {
    case FileKind::kNone:
      return absl::OkStatus();
    case FileKind::kOther:
      return Taken(path, flag, "where a file is that is not a socket");
    case FileKind::kSocket:
      break;
  }
  if (!IsStale(path)) return Taken(path, flag, "where another process listens");
  if (::unlink(path.c_str()) == 0) return absl::OkStatus();
  return Taken(path, flag,
               std::string("where an old socket cannot be removed: ").append(std::strerror(errno)));
}

void RemoveSocket(const std::string& path) {
  if (KindOf(path) == FileKind::kSocket) ::unlink(path.c_str());
}

}  // namespace opserve::server
