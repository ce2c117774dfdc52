#include "server/shared_memory/memory_socket.h"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/thread.h"

namespace opserve::server {
namespace {

constexpr int kBacklog = 64;
constexpr int kPauseMilliseconds = 100;

absl::Status CannotBind(const std::string& path) {
  return InvalidParameter("--allow-shared-memory", "a path for a new socket",
                          absl::StrCat("unix:", path, ", ", std::strerror(errno)));
}

// False when the peer is gone or takes nothing.
bool Send(int socket, const MemoryAnswer& answer) {
  iovec bytes = {.iov_base = const_cast<char*>(answer.bytes.data()),
                 .iov_len = answer.bytes.size()};
  msghdr message = {};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control = {};
  if (answer.fd.is_open()) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    const int fd = answer.fd.get();
    std::memcpy(CMSG_DATA(header), &fd, sizeof(fd));
  }
  return ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) ==
         static_cast<ssize_t>(answer.bytes.size());
}

}  // namespace

MemorySocket::MemorySocket(const std::string& path, RegionTable& table)
    : path_(path), table_(table) {}

MemorySocket::~MemorySocket() {
  if (thread_.joinable()) {
    const uint64_t one = 1;
    // It cannot fail: the counter is far from its end.
    [[maybe_unused]] const ssize_t written = ::write(stop_.get(), &one, sizeof(one));
    thread_.join();
  }
  for (const std::unique_ptr<Client>& client : clients_) client->owner.KeepContents();
  if (is_bound_) ::unlink(path_.c_str());
}

absl::StatusOr<std::unique_ptr<MemorySocket>> MemorySocket::Listen(const std::string& path,
                                                                   mode_t mode,
                                                                   RegionTable& table) {
  std::unique_ptr<MemorySocket> socket(new MemorySocket(path, table));
  OPSERVE_RETURN_IF_ERROR(socket->Bind(mode));
  socket->thread_ =
      StartThread("the thread of shared memory", [raw = socket.get()] { raw->Serve(); });
  return socket;
}

absl::Status MemorySocket::Bind(mode_t mode) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path_.size() >= sizeof(address.sun_path)) {
    errno = ENAMETOOLONG;
    return CannotBind(path_);
  }
  std::memcpy(address.sun_path, path_.data(), path_.size());
  listener_ = UniqueFd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  stop_ = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!listener_.is_open() || !stop_.is_open()) return CannotBind(path_);
  if (::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    return CannotBind(path_);
  is_bound_ = true;
  // Before anyone can connect.
  if (::chmod(path_.c_str(), mode) != 0 || ::listen(listener_.get(), kBacklog) != 0)
    return CannotBind(path_);
  return absl::OkStatus();
}

std::vector<pollfd> MemorySocket::Waited() const {
  std::vector<pollfd> waited = {
      {.fd = stop_.get(), .events = POLLIN, .revents = 0},
      {.fd = is_full_ ? -1 : listener_.get(), .events = POLLIN, .revents = 0}};
  for (const std::unique_ptr<Client>& client : clients_)
    waited.push_back({.fd = client->fd.get(), .events = POLLIN, .revents = 0});
  return waited;
}

void MemorySocket::Serve() {
  while (true) {
    std::vector<pollfd> waited = Waited();
    const int ready = ::poll(waited.data(), waited.size(), is_full_ ? kPauseMilliseconds : -1);
    is_full_ = false;
    if (ready <= 0) continue;
    if (waited[0].revents != 0) return;
    for (size_t i = clients_.size(); i-- > 0;) {
      if (waited[2 + i].revents == 0 || Answer(*clients_[i])) continue;
      clients_.erase(clients_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (waited[1].revents != 0) Accept();
  }
}

void MemorySocket::Accept() {
  UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!fd.is_open()) {
    is_full_ = errno != EAGAIN && errno != ECONNABORTED && errno != EINTR;
    return;
  }
  if (clients_.size() < kMaxMemoryClients) {
    clients_.push_back(std::make_unique<Client>(std::move(fd), table_));
    return;
  }
  Send(fd.get(),
       RefuseMemory(MakeError({.reason = ErrorReason::kResourceLimit,
                               .op = {},
                               .parameter = "connections",
                               .want = absl::StrCat("at most ", kMaxMemoryClients, " clients"),
                               .got = "one more"}),
                    true));
}

bool MemorySocket::Answer(Client& client) {
  // Descriptors that come with it are not taken.
  std::array<std::byte, kMaxMemoryRequestBytes + 1> packet = {};
  const ssize_t size = ::recv(client.fd.get(), packet.data(), packet.size(), MSG_DONTWAIT);
  if (size < 0) return errno == EAGAIN || errno == EINTR;
  if (size == 0) return false;  // the end, or a packet of nothing
  const MemoryAnswer answer = client.owner.Handle({packet.data(), static_cast<size_t>(size)});
  return Send(client.fd.get(), answer) && !answer.is_last;
}

}  // namespace opserve::server
