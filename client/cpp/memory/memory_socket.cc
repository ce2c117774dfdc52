#include "client/cpp/memory/memory_socket.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/vfs.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cpp/wire/messages.h"
#include "client/cpp/wire/read_message.h"
#include "core/base/clock.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve::client {
namespace {

constexpr size_t kMaxAnswerBytes = 8192;
// As many as the system lets anyone send at once, so that all of them can be closed.
constexpr size_t kMaxFiles = 253;
constexpr std::string_view kMemoryAnswer = "SharedMemoryResponse";

void TakeFiles(msghdr& message, std::vector<UniqueFd>& files) {
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof(fd));
      files.emplace_back(fd);
    }
  }
}

// Memory that cannot be taken away from under us: a memfd, of the system's own pages, that is
// sealed against shrinking. Of anything else a page may be gone when it is touched.
absl::Status CheckFile(const std::vector<UniqueFd>& files, int64_t size_bytes) {
  if (files.size() != 1)
    return BadAnswer(kMemoryAnswer, "its files", "one", absl::StrCat(files.size()));
  const int fd = files[0].get();
  const int seals = ::fcntl(fd, F_GET_SEALS);
  struct statfs system = {};
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || ::fstatfs(fd, &system) != 0 ||
      system.f_type != TMPFS_MAGIC)
    return BadAnswer(kMemoryAnswer, "its file", "a memfd that cannot shrink", "another");
  struct stat file = {};
  if (::fstat(fd, &file) != 0 || file.st_size < size_bytes) {
    return BadAnswer(kMemoryAnswer, "its file", absl::StrCat("at least ", size_bytes, " bytes"),
                     absl::StrCat(file.st_size));
  }
  return absl::OkStatus();
}

absl::Status Map(int fd, int64_t size_bytes, SharedRegion& region) {
  const auto size = static_cast<size_t>(size_bytes);
  void* address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (address == MAP_FAILED)
    return absl::ResourceExhaustedError(absl::StrCat("mmap: ", std::strerror(errno)));
  ::madvise(address, size, MADV_HUGEPAGE);  // where the system gives them
  region.bytes = {static_cast<std::byte*>(address), size};
  return absl::OkStatus();
}

}  // namespace

SharedRegion::~SharedRegion() {
  if (bytes.data() != nullptr) ::munmap(bytes.data(), bytes.size());
}

absl::Status MemorySocket::TooLate() const {
  return absl::DeadlineExceededError(absl::StrCat("unix:", path_, ": no answer in time"));
}

absl::Status MemorySocket::Failed(const char* what) const {
  if (errno == EAGAIN) return TooLate();
  return absl::UnavailableError(
      absl::StrCat("unix:", path_, ": ", what, ": ", std::strerror(errno)));
}

absl::Status MemorySocket::BePatient(absl::Time deadline) {
  const absl::Duration left = deadline - Clock::Real().Now();
  if (left < absl::Microseconds(1)) return TooLate();
  const timeval patience = absl::ToTimeval(left);
  ::setsockopt(fd_->get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  ::setsockopt(fd_->get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
  return absl::OkStatus();
}

absl::Status MemorySocket::Connect(absl::Time deadline) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path_.empty() || path_.size() >= sizeof(address.sun_path) ||
      path_.find('\0') != std::string::npos) {
    return InvalidParameter(
        "socket_path",
        absl::StrCat("a path of 1 to ", sizeof(address.sun_path) - 1, " bytes other than 0"),
        absl::StrCat(path_.size(), " bytes"));
  }
  std::memcpy(address.sun_path, path_.data(), path_.size());
  fd_ = std::make_shared<const UniqueFd>(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!fd_->is_open()) return Failed("socket");
  OPSERVE_RETURN_IF_ERROR(BePatient(deadline));
  if (::connect(fd_->get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    return Failed("connect");
  return absl::OkStatus();
}

absl::Status MemorySocket::Send(const std::string& bytes) {
  // One that fails has an answer to be read, or the connection is over, as reading tells.
  const ssize_t sent = ::send(fd_->get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  return sent < 0 && errno != EPIPE ? Failed("send") : absl::OkStatus();
}

absl::Status MemorySocket::Receive(Wait wait, std::string& bytes, std::vector<UniqueFd>& files) {
  bytes.resize(kMaxAnswerBytes);
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxFiles * sizeof(int))> control = {};
  iovec piece = {.iov_base = bytes.data(), .iov_len = bytes.size()};
  msghdr message = {};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const int how = wait == Wait::kNo ? MSG_DONTWAIT : 0;
  const ssize_t size = ::recvmsg(fd_->get(), &message, MSG_CMSG_CLOEXEC | how);
  if (size < 0) return Failed("recvmsg");
  TakeFiles(message, files);
  if (size == 0) return absl::UnavailableError("the server closed its shared-memory socket");
  bytes.resize(static_cast<size_t>(size));
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0) return absl::OkStatus();
  return BadAnswer(kMemoryAnswer, "its packet", absl::StrCat("at most ", kMaxAnswerBytes, " bytes"),
                   "more");
}

absl::Status MemorySocket::ReadUnread(Wait wait) {
  while (!unread_.empty()) {
    std::string answer;
    std::vector<UniqueFd> files;
    OPSERVE_RETURN_IF_ERROR(Receive(wait, answer, files));
    const int64_t late_bytes = unread_.front();
    unread_.pop_front();
    if (late_bytes == 0) continue;
    const absl::StatusOr<std::string> late = ReadRegionId(answer, late_bytes);
    if (late.ok() && !SendRelease(*late)) return Failed("send");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<SharedRegion>> MemorySocket::Allocate(int64_t size_bytes,
                                                                     absl::Time deadline) {
  OPSERVE_RETURN_IF_ERROR(BePatient(deadline));
  OPSERVE_RETURN_IF_ERROR(ReadUnread(Wait::kForAnswer));
  OPSERVE_RETURN_IF_ERROR(Send(MakeAllocateRegionRequest(size_bytes)));
  std::string answer;
  std::vector<UniqueFd> files;
  absl::Status came = BePatient(deadline);
  if (came.ok()) came = Receive(Wait::kForAnswer, answer, files);
  if (absl::IsDeadlineExceeded(came)) unread_.push_back(size_bytes);
  OPSERVE_RETURN_IF_ERROR(came);
  auto region = std::make_shared<SharedRegion>();
  OPSERVE_ASSIGN_OR_RETURN(region->id, ReadRegionId(answer, size_bytes));
  OPSERVE_RETURN_IF_ERROR(CheckFile(files, size_bytes));
  OPSERVE_RETURN_IF_ERROR(Map(files[0].get(), size_bytes, *region));
  region->socket = fd_;
  return region;
}

bool MemorySocket::SendRelease(const std::string& id) {
  const std::string bytes = MakeReleaseRegionRequest(id);
  if (::send(fd_->get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) return false;
  unread_.push_back(0);
  return true;
}

bool MemorySocket::Release(const std::string& id) {
  if (!SendRelease(id)) return false;
  const absl::Status read = ReadUnread(Wait::kNo);
  return read.ok() || absl::IsDeadlineExceeded(read);
}

}  // namespace opserve::client
