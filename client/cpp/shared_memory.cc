#include "client/cpp/shared_memory.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cpp/read_message.h"
#include "client/cpp/shared_region.h"
#include "client/cpp/status_details.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "opserve/v1/shared_memory.pb.h"

namespace opserve::client {
namespace {

constexpr size_t kMaxAnswerBytes = 8192;
constexpr timeval kPatience = {.tv_sec = 30, .tv_usec = 0};
constexpr std::string_view kAnswer = "SharedMemoryResponse";

absl::Status Unavailable(std::string_view path, const char* what) {
  return absl::UnavailableError(
      absl::StrCat("unix:", ToAbsl(path), ": ", what, ": ", std::strerror(errno)));
}

absl::StatusOr<UniqueFd> Connect(std::string_view path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return InvalidParameter("socket_path",
                            absl::StrCat("a path of 1 to ", sizeof(address.sun_path) - 1, " bytes"),
                            absl::StrCat(path.size()));
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!fd.is_open()) return Unavailable(path, "socket");
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof(kPatience));
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof(kPatience));
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    return Unavailable(path, "connect");
  return fd;
}

struct MemoryAnswer {
  v1::SharedMemoryResponse response;
  UniqueFd fd;
};

absl::StatusOr<MemoryAnswer> Receive(int socket, std::string_view path) {
  std::array<char, kMaxAnswerBytes> bytes = {};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control = {};
  iovec piece = {.iov_base = bytes.data(), .iov_len = bytes.size()};
  msghdr message = {};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t size = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (size < 0) return Unavailable(path, "recvmsg");
  if (size == 0) return absl::UnavailableError("the server closed its shared-memory socket");
  MemoryAnswer answer;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS &&
      header->cmsg_len == CMSG_LEN(sizeof(int))) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof(fd));
    answer.fd = UniqueFd(fd);
  }
  if (!answer.response.ParseFromArray(bytes.data(), static_cast<int>(size)))
    return BadAnswer(kAnswer, "malformed bytes");
  if (!answer.response.has_error()) return answer;
  const v1::StatusDetails& error = answer.response.error();
  absl::Status status = StatusFromWire(error.code(), error.message(), error.SerializeAsString());
  return status.ok() ? BadAnswer(kAnswer, "an error that is OK") : status;
}

absl::Status Map(const MemoryAnswer& answer, int64_t size_bytes, SharedRegion& region) {
  struct stat file = {};
  if (!answer.fd.is_open() || ::fstat(answer.fd.get(), &file) != 0 || file.st_size < size_bytes)
    return BadAnswer(kAnswer, "no file of the region's size");
  const auto size = static_cast<size_t>(size_bytes);
  void* address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, answer.fd.get(), 0);
  if (address == MAP_FAILED)
    return absl::ResourceExhaustedError(absl::StrCat("mmap: ", std::strerror(errno)));
  ::madvise(address, size, MADV_HUGEPAGE);  // where the system gives them
  region.bytes = {static_cast<std::byte*>(address), size};
  region.id = answer.response.region().id();
  return absl::OkStatus();
}

}  // namespace

SharedRegion::~SharedRegion() {
  if (bytes.data() != nullptr) ::munmap(bytes.data(), bytes.size());
}

absl::StatusOr<SharedMemory> SharedMemory::Create(std::string_view socket_path,
                                                  int64_t size_bytes) {
  auto region = std::make_shared<SharedRegion>();
  OPSERVE_ASSIGN_OR_RETURN(region->socket, Connect(socket_path));
  v1::SharedMemoryRequest request;
  request.mutable_allocate()->set_size_bytes(size_bytes);
  const std::string bytes = request.SerializeAsString();
  // One that fails has an answer to be read, or the connection is over, as reading tells.
  const ssize_t sent = ::send(region->socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (sent < 0 && errno != EPIPE) return Unavailable(socket_path, "send");
  OPSERVE_ASSIGN_OR_RETURN(const MemoryAnswer answer, Receive(region->socket.get(), socket_path));
  OPSERVE_RETURN_IF_ERROR(Map(answer, size_bytes, *region));
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
