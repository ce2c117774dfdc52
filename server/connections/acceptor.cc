#include "server/connections/acceptor.h"

#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"
#include "core/base/thread.h"

namespace opserve::server {
namespace {

// Connections that are accepted before others have the thread again.
constexpr int kAtOnce = 64;

// Of one client, that it left while gRPC still works on what came by them.
constexpr int kMaxEnded = 16;

// What an event is of: a connection, by its number; a listener, by its index; or the wake-up.
constexpr uint64_t kListener = uint64_t{1} << 62;
constexpr uint64_t kWake = uint64_t{1} << 63;

// HTTP/2's frames, as the first that a server sends.
constexpr std::string_view kEmptySettings("\0\0\0\x04\0\0\0\0\0", 9);
constexpr char kGoAwayType = 7;
constexpr std::string_view kEnhanceYourCalm("\0\0\0\0\0\0\0\x0b", 8);  // no stream was taken
// TLS's fatal alert internal_error, which may come before anything else (RFC 8446, section 6).
constexpr std::string_view kTlsAlert("\x15\x03\x03\0\x02\x02\x50", 7);

absl::Status CannotServe(std::string_view what) {
  return InvalidParameter("--listen", "descriptors to accept connections with",
                          absl::StrCat(std::string(what), ": ", std::strerror(errno)));
}

void SetUp(int socket, absl::Duration unacknowledged_timeout) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (unacknowledged_timeout <= absl::ZeroDuration()) return;
  const auto milliseconds = static_cast<int>(absl::ToInt64Milliseconds(unacknowledged_timeout));
  ::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof(milliseconds));
}

// What tells a client that speaks HTTP/2 why it is not served.
std::string GoAway(const std::string& why) {
  std::string frames(kEmptySettings);
  const size_t size = kEnhanceYourCalm.size() + why.size();
  frames.append({static_cast<char>(size >> 16), static_cast<char>(size >> 8),
                 static_cast<char>(size), kGoAwayType});
  return frames.append(5, '\0').append(kEnhanceYourCalm).append(why);
}

// Whether the first, which may be closed or something else by now, is still the second's socket.
bool AreSame(int maybe, int socket) {
  struct stat first = {};
  struct stat second = {};
  return ::fstat(maybe, &first) == 0 && ::fstat(socket, &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

}  // namespace

Acceptor::Acceptor(std::vector<Listener> listeners, ConnectionTable& table, Options options)
    : table_(table), options_(std::move(options)), listeners_(std::move(listeners)) {}

absl::StatusOr<std::unique_ptr<Acceptor>> Acceptor::Start(std::vector<Listener> listeners,
                                                          ConnectionTable& table, Options options) {
  std::unique_ptr<Acceptor> acceptor(new Acceptor(std::move(listeners), table, std::move(options)));
  OPSERVE_RETURN_IF_ERROR(acceptor->Prepare());
  return acceptor;
}

absl::Status Acceptor::Prepare() {
  epoll_ = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  wake_ = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  reserve_ = UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!epoll_.is_open() || !wake_.is_open() || !reserve_.is_open()) return CannotServe("epoll");
  OPSERVE_RETURN_IF_ERROR(Watch(wake_.get(), EPOLLIN, kWake));
  for (size_t i = 0; i < listeners_.size(); ++i)
    OPSERVE_RETURN_IF_ERROR(Watch(listeners_[i].socket.get(), EPOLLIN, kListener + i));
  hand_over_thread_ = StartThread("the thread that hands connections over", [this] { HandOver(); });
  thread_ = StartThread("the thread that accepts connections", [this] { Serve(); });
  return absl::OkStatus();
}

Acceptor::~Acceptor() {
  if (hand_over_thread_.joinable()) {
    StopHandingOver();
    hand_over_thread_.join();
  }
  if (!thread_.joinable()) return;
  stop_ = true;
  ::eventfd_write(wake_.get(), 1);
  thread_.join();
  for (const auto& [tag, accepted] : connections_) table_.Remove(accepted.connection);
  for (const Accepted& accepted : ended_) table_.Remove(accepted.connection);
}

void Acceptor::StopAccepting() {
  stop_accepting_ = true;
  ::eventfd_write(wake_.get(), 1);
  {
    const MutexLock lock(mutex_);
    while (!listeners_closed_) changed_.Wait(mutex_);
  }
  StopHandingOver();
}

void Acceptor::StopHandingOver() {
  std::deque<Waiting> dropped;
  const MutexLock lock(mutex_);
  hands_over_ = false;
  dropped.swap(waiting_);
  changed_.NotifyAll();
  // The table has a descriptor of each, too.
  for (const Waiting& each : dropped) each.connection->Cut();
  if (in_hand_ != nullptr && !was_handed_over_) in_hand_->Cut();
  while (in_hand_ != nullptr) changed_.Wait(mutex_);
}

void Acceptor::HandOver() {
  while (std::optional<Waiting> next = NextWaiting()) {
    options_.hand_over({.listener = next->listener,
                        .socket = next->socket.Release(),
                        .speaks_tls = next->speaks_tls});
    const MutexLock lock(mutex_);
    was_handed_over_ = true;
    ::eventfd_write(wake_.get(), 1);
  }
}

std::optional<Acceptor::Waiting> Acceptor::NextWaiting() {
  const MutexLock lock(mutex_);
  while (hands_over_) {
    // Once the last one was noted.
    std::optional<Waiting> next = in_hand_ == nullptr ? TakeWaiting() : std::nullopt;
    if (next.has_value()) {
      in_hand_ = next->connection;
      return next;
    }
    if (in_hand_ != nullptr || waiting_.empty()) {
      changed_.Wait(mutex_);
    } else {
      changed_.WaitFor(mutex_, absl::ToChronoNanoseconds(kTick));
    }
  }
  in_hand_ = nullptr;
  changed_.NotifyAll();
  return std::nullopt;
}

std::optional<Acceptor::Waiting> Acceptor::TakeWaiting() {
  const absl::Time now = Clock::Real().Now();
  absl::erase_if(paced_, [now](const auto& each) { return each.second <= now; });
  for (auto next = waiting_.begin(); next != waiting_.end(); ++next) {
    if (!MayHandOver(next->connection->client(), now)) continue;
    std::optional<Waiting> taken = std::move(*next);
    waiting_.erase(next);
    return taken;
  }
  return std::nullopt;
}

bool Acceptor::MayHandOver(ClientId client, absl::Time now) {
  if (!options_.is_crowded || !options_.is_crowded(client)) return true;
  return paced_.try_emplace(client, now + kCrowdedPace).second;
}

void Acceptor::DropBarred() {
  const MutexLock lock(mutex_);
  for (const Waiting& waiting : waiting_) {
    const Connection& connection = *waiting.connection;
    // Clients of unix sockets cannot be told apart.
    if (connection.peer().is_ip() && table_.IsBarred(connection.client())) connection.Cut();
  }
}

void Acceptor::NoteHandedOver() {
  std::shared_ptr<Connection> connection;
  {
    const MutexLock lock(mutex_);
    if (!std::exchange(was_handed_over_, false)) return;
    connection = in_hand_;
  }
  if (connection != nullptr && options_.on_handed_over) options_.on_handed_over(connection);
  const MutexLock lock(mutex_);
  in_hand_ = nullptr;
  changed_.NotifyAll();
}

absl::Status Acceptor::Watch(int fd, uint32_t events, uint64_t tag) const {
  epoll_event event = {.events = events, .data = {.u64 = tag}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0) return absl::OkStatus();
  return CannotServe("epoll_ctl");
}

void Acceptor::Serve() {
  std::array<epoll_event, 128> events = {};
  const auto tick = static_cast<int>(absl::ToInt64Milliseconds(kTick));
  absl::Time last_tick = Clock::Real().Now();
  while (!stop_) {
    const int count = ::epoll_wait(epoll_.get(), events.data(), events.size(), tick);
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<size_t>(i)];
      Handle(event.data.u64, event.events);
    }
    if (stop_accepting_) CloseListeners();
    const absl::Time now = Clock::Real().Now();
    if (now - last_tick < kTick) continue;
    last_tick = now;
    Resume();
    DropBarred();
    ForgetEnded();
    if (options_.on_tick) options_.on_tick();
  }
}

void Acceptor::Handle(uint64_t tag, uint32_t events) {
  if (tag == kWake) {
    eventfd_t count = 0;
    ::eventfd_read(wake_.get(), &count);
    NoteHandedOver();
  } else if (tag >= kListener) {
    if (tag - kListener < listeners_.size()) AcceptFrom(tag - kListener);
  } else if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) {
    // The peer closed or reset it, gRPC shut it, or Cut.
    End(tag);
  }
}

void Acceptor::End(uint64_t tag) {
  const auto at = connections_.find(tag);
  if (at == connections_.end()) return;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, at->second.connection->socket(), nullptr);
  at->second.connection->NoteOver();
  ended_.push_back(std::move(at->second));
  ended_.back().ended = Clock::Real().Now();
  connections_.erase(at);
  const MutexLock lock(mutex_);
  std::erase_if(waiting_, [this](const Waiting& waiting) {
    return waiting.connection == ended_.back().connection;
  });
}

void Acceptor::ForgetEnded() {
  const absl::Time past = Clock::Real().Now() - options_.most_ended_time;
  // Calls may hold the connection, and its descriptor, a little longer.
  std::erase_if(ended_, [this, past](const Accepted& accepted) {
    const bool is_held = AreSame(accepted.grpc_socket, accepted.connection->socket());
    if (is_held && accepted.ended > past) return false;
    table_.Remove(accepted.connection);
    return true;
  });
}

absl::Status Acceptor::CheckEnded(ClientId client) {
  const auto is_clients = [client](const Accepted& accepted) {
    return accepted.connection->client() == client;
  };
  if (std::count_if(ended_.begin(), ended_.end(), is_clients) < kMaxEnded) return absl::OkStatus();
  ForgetEnded();
  const auto ended = std::count_if(ended_.begin(), ended_.end(), is_clients);
  if (ended < kMaxEnded) return absl::OkStatus();
  return MakeError({.reason = ErrorReason::kResourceLimit,
                    .op = {},
                    .parameter = "connection",
                    .want = absl::StrCat("fewer than ", kMaxEnded,
                                         " of one peer that it left and whose calls are not over"),
                    .got = absl::StrCat(ended)});
}

void Acceptor::AcceptFrom(size_t index) {
  const Listener& listener = listeners_[index];
  if (listener.is_unix && table_.UnixWaits()) return Pause(index);
  for (int i = 0; i < kAtOnce; ++i) {
    sockaddr_storage address = {};
    socklen_t size = sizeof(address);
    UniqueFd socket(::accept4(listener.socket.get(), reinterpret_cast<sockaddr*>(&address), &size,
                              SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.is_open()) {
      const PeerAddress peer = PeerAddress::Of(address);
      absl::Status status = CheckEnded(peer.client());
      if (status.ok()) status = table_.Reserve(peer);
      if (!status.ok()) {
        Refuse(listener, peer, socket.get(), status);
      } else if (!TakeIn(listener, std::move(socket), peer)) {
        table_.Unreserve(peer);
      }
      continue;
    }
    switch (errno) {
      case EAGAIN:
        return;
      case EMFILE:
      case ENFILE:
        return RefuseForWantOfDescriptors(listener);
      case ENOBUFS:
      case ENOMEM:
        return Pause(index);
      case EBADF:
      case EINVAL:
      case ENOTSOCK:
      case EOPNOTSUPP:
        return Die(std::strerror(errno));
      default:
        // Of the connection that was to be accepted.
        break;
    }
  }
}

void Acceptor::Refuse(const Listener& listener, const PeerAddress& peer, int socket,
                      const absl::Status& status) {
  const std::string why(ToStd(status.message()));
  log_.Write(LogLevel::kWarning, "connection refused", {{"peer", peer.host()}, {"reason", why}});
  const std::string farewell = listener.speaks_tls ? std::string(kTlsAlert) : GoAway(why);
  // Best effort: a socket that was never written to takes as much.
  [[maybe_unused]] const ssize_t sent =
      ::send(socket, farewell.data(), farewell.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

bool Acceptor::TakeIn(const Listener& listener, UniqueFd socket, const PeerAddress& peer) {
  UniqueFd own(::fcntl(socket.get(), F_DUPFD_CLOEXEC, 0));
  if (!own.is_open()) return false;
  const uint64_t tag = next_tag_++;
  if (!Watch(own.get(), EPOLLRDHUP | EPOLLET, tag).ok()) return false;
  if (!listener.is_unix) SetUp(socket.get(), options_.unacknowledged_timeout);
  const std::shared_ptr<Connection> connection = table_.Add(std::move(own), peer);
  connections_[tag] = {.connection = connection, .grpc_socket = socket.get()};
  if (options_.on_accepted) options_.on_accepted(connection);
  const MutexLock lock(mutex_);
  waiting_.push_back({listener.socket.get(), listener.speaks_tls, std::move(socket), connection});
  changed_.NotifyAll();
  return true;
}

void Acceptor::RefuseForWantOfDescriptors(const Listener& listener) {
  log_.Write(LogLevel::kError, "connection refused",
             {{"reason", absl::StrCat("no descriptor left: ", std::strerror(errno))}});
  reserve_ = UniqueFd();
  const int refused = ::accept4(listener.socket.get(), nullptr, nullptr, SOCK_CLOEXEC);
  if (refused >= 0) ::close(refused);
  reserve_ = UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

void Acceptor::Pause(size_t index) {
  epoll_event event = {.events = 0, .data = {.u64 = kListener + index}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, listeners_[index].socket.get(), &event);
  paused_.push_back(index);
}

void Acceptor::Resume() {
  for (const size_t index : std::exchange(paused_, {})) {
    if (index >= listeners_.size()) continue;
    epoll_event event = {.events = EPOLLIN, .data = {.u64 = kListener + index}};
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, listeners_[index].socket.get(), &event);
  }
}

void Acceptor::CloseListeners() {
  listeners_.clear();
  const MutexLock lock(mutex_);
  listeners_closed_ = true;
  changed_.NotifyAll();
}

void Acceptor::Die(std::string_view reason) {
  const std::string why(reason);
  CloseListeners();
  if (options_.on_dead_listener) options_.on_dead_listener(why);
}

}  // namespace opserve::server
