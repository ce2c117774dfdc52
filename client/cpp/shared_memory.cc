#include <opserve/shared_memory.h>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cpp/values/shared_region.h"
#include "client/cpp/wire/messages.h"
#include "client/cpp/wire/read_message.h"
#include "core/base/clock.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"

namespace opserve::client {
namespace {

constexpr size_t kMaxAnswerBytes = 8192;
// As many as the system lets anyone send at once, so that all of them can be closed.
constexpr size_t kMaxFiles = 253;
constexpr std::string_view kMemoryAnswer = "SharedMemoryResponse";

absl::Status TooLate(std::string_view path) {
  return absl::DeadlineExceededError(absl::StrCat("unix:", ToAbsl(path), ": no answer in time"));
}

absl::Status Failed(std::string_view path, const char* what) {
  if (errno == EAGAIN) return TooLate(path);
  return absl::UnavailableError(
      absl::StrCat("unix:", ToAbsl(path), ": ", what, ": ", std::strerror(errno)));
}

// A connection to the server's socket that is waited for until `deadline`.
class MemorySocket {
 public:
  MemorySocket(std::string_view path, absl::Time deadline) : path_(path), deadline_(deadline) {}

  absl::Status Connect() {
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
    fd_ = UniqueFd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (!fd_.is_open()) return Failed(path_, "socket");
    OPSERVE_RETURN_IF_ERROR(BePatient());
    if (::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
      return Failed(path_, "connect");
    return absl::OkStatus();
  }

  absl::Status Send(const std::string& bytes) {
    OPSERVE_RETURN_IF_ERROR(BePatient());
    // One that fails has an answer to be read, or the connection is over, as reading tells.
    const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    return sent < 0 && errno != EPIPE ? Failed(path_, "send") : absl::OkStatus();
  }

  // A packet into `bytes`, and all files that came with it.
  absl::Status Receive(std::string& bytes, std::vector<UniqueFd>& files) {
    OPSERVE_RETURN_IF_ERROR(BePatient());
    bytes.resize(kMaxAnswerBytes);
    alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxFiles * sizeof(int))> control = {};
    iovec piece = {.iov_base = bytes.data(), .iov_len = bytes.size()};
    msghdr message = {};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t size = ::recvmsg(fd_.get(), &message, MSG_CMSG_CLOEXEC);
    if (size < 0) return Failed(path_, "recvmsg");
    TakeFiles(message, files);
    if (size == 0) return absl::UnavailableError("the server closed its shared-memory socket");
    bytes.resize(static_cast<size_t>(size));
    if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0) return absl::OkStatus();
    return BadAnswer(kMemoryAnswer, "its packet",
                     absl::StrCat("at most ", kMaxAnswerBytes, " bytes"), "more");
  }

  UniqueFd TakeFd() { return std::move(fd_); }

 private:
  absl::Status BePatient() {
    const absl::Duration left = deadline_ - Clock::Real().Now();
    if (left < absl::Microseconds(1)) return TooLate(path_);
    const timeval patience = absl::ToTimeval(left);
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    return absl::OkStatus();
  }

  static void TakeFiles(msghdr& message, std::vector<UniqueFd>& files) {
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

  const std::string path_;
  const absl::Time deadline_;
  UniqueFd fd_;
};

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

absl::StatusOr<SharedMemory> SharedMemory::Create(std::string_view socket_path, int64_t size_bytes,
                                                  absl::Duration timeout) {
  auto region = std::make_shared<SharedRegion>();
  MemorySocket socket(socket_path, Clock::Real().Now() + std::min(timeout, kMemoryPatience));
  OPSERVE_RETURN_IF_ERROR(socket.Connect());
  OPSERVE_RETURN_IF_ERROR(socket.Send(MakeAllocateRegionRequest(size_bytes)));
  std::string answer;
  std::vector<UniqueFd> files;
  OPSERVE_RETURN_IF_ERROR(socket.Receive(answer, files));
  OPSERVE_ASSIGN_OR_RETURN(region->id, ReadRegionId(answer, size_bytes));
  OPSERVE_RETURN_IF_ERROR(CheckFile(files, size_bytes));
  OPSERVE_RETURN_IF_ERROR(Map(files[0].get(), size_bytes, *region));
  region->socket = socket.TakeFd();
  return SharedMemory(std::move(region));
}

std::span<std::byte> SharedMemory::bytes() const { return region_->bytes; }
const std::string& SharedMemory::id() const { return region_->id; }

SharedTensorView SharedMemory::View(DType dtype, std::span<const int64_t> shape,
                                    int64_t offset_bytes) const {
  SharedTensorView view;
  view.dtype = dtype;
  view.shape.assign(shape.begin(), shape.end());
  view.shared = {.region = region_, .offset_bytes = offset_bytes, .size_bytes = 0};
  // What cannot be said of a sound tensor is left to the server to refuse.
  const TensorDesc desc = view.Desc();
  if (!CheckDesc(desc, {}).ok()) return view;
  const int64_t bytes = desc.size_bytes();
  const auto size = static_cast<int64_t>(region_->bytes.size());
  view.shared.size_bytes = bytes;
  if (offset_bytes >= 0 && offset_bytes <= size && bytes <= size - offset_bytes) {
    view.storage =
        region_->bytes.subspan(static_cast<size_t>(offset_bytes), static_cast<size_t>(bytes));
  }
  return view;
}

std::byte* SharedMemory::Part(size_t offset_bytes, size_t count, size_t element_bytes) const {
  size_t size = 0;
  const bool fits = !__builtin_mul_overflow(count, element_bytes, &size) &&
                    offset_bytes <= region_->bytes.size() &&
                    size <= region_->bytes.size() - offset_bytes &&
                    offset_bytes % element_bytes == 0;
  if (fits) return region_->bytes.data() + offset_bytes;
  std::fprintf(stderr,
               "opserve::client::SharedMemory::As: asked for %zu elements of %zu bytes at byte %zu "
               "of %zu\n",
               count, element_bytes, offset_bytes, region_->bytes.size());
  std::abort();
}

}  // namespace opserve::client
