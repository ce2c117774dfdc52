#include "server/identity/small_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/unique_fd.h"

namespace opserve::server {
namespace {

absl::Status CannotRead(const std::string& path, std::string_view flag, std::string_view why) {
  return InvalidParameter(flag, "a file that can be read",
                          absl::StrCat(path, ", which cannot: ", std::string(why)));
}

}  // namespace

absl::StatusOr<std::string> ReadSmallFile(const std::string& path, std::string_view flag) {
  // Opening a pipe would wait for who writes.
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status = {};
  if (!file.is_open() || ::fstat(file.get(), &status) != 0)
    return CannotRead(path, flag, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return CannotRead(path, flag, "it is no regular file");
  if (status.st_size > static_cast<off_t>(kMaxSmallFileBytes))
    return CannotRead(path, flag, absl::StrCat("it has more than ", kMaxSmallFileBytes, " bytes"));
  std::string text(static_cast<size_t>(status.st_size) + 1, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t count = ::read(file.get(), text.data() + size, text.size() - size);
    if (count < 0) return CannotRead(path, flag, std::strerror(errno));
    if (count == 0) break;
    size += static_cast<size_t>(count);
  }
  if (size == text.size()) return CannotRead(path, flag, "it grew meanwhile");
  text.resize(size);
  return text;
}

}  // namespace opserve::server
