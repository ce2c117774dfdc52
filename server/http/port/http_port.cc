#include "server/http/port/http_port.h"

#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/thread.h"
#include "core/base/unique_fd.h"
#include "server/connections/peer_address.h"
#include "server/http/port/cpu_budget.h"
#include "server/http/port/host_name.h"
#include "server/http/port/http_connections.h"
#include "server/http/port/request_rate.h"

namespace opserve::server {
namespace {

constexpr absl::Duration kHttpTick = absl::Seconds(1);
// Accepted before what is there is served.
constexpr int kAcceptedAtOnce = 8;

// A browser runs, loads and shows nothing that the page does not hold itself.
#define OPSERVE_CONTENT_POLICY                                                           \
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'self'; " \
  "frame-ancestors 'none'"
constexpr char kPolicy[] = OPSERVE_CONTENT_POLICY;
constexpr char kScriptPolicy[] = OPSERVE_CONTENT_POLICY "; script-src 'self'; connect-src 'self'";
#undef OPSERVE_CONTENT_POLICY

// Of every answer. No other page may show or read it.
constexpr std::array<std::array<const char*, 2>, 5> kHeaders = {{
    {"Cache-Control", "no-store"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Referrer-Policy", "no-referrer"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
}};

absl::Duration ThreadCpuTime() {
  timespec time = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return absl::DurationFromTimespec(time);
}

bool IsOnLoopback(int listener) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  if (::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0) return false;
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    return ntohl(v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  }
  if (address.ss_family != AF_INET6) return false;
  return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
}

ClientId ClientOf(int socket) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  ::getpeername(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return PeerAddress::Of(address).client();
}

struct StopDaemon {
  void operator()(MHD_Daemon* daemon) const { ::MHD_stop_daemon(daemon); }
};
struct DestroyResponse {
  void operator()(MHD_Response* response) const { ::MHD_destroy_response(response); }
};

HttpResponse PlainAnswer(int status, std::string text) {
  return {.status = status, .body = std::move(text)};
}

class MicroHttpPort final : public HttpPort {
 public:
  MicroHttpPort(std::vector<Listener> listeners, std::vector<HttpRoute> routes, Tick tick,
                const HttpLimits& limits, const Clock& clock)
      : listeners_(std::move(listeners)),
        routes_(std::move(routes)),
        tick_(std::move(tick)),
        limits_(limits),
        clock_(clock),
        loopback_only_(
            std::all_of(listeners_.begin(), listeners_.end(),
                        [](const Listener& each) { return IsOnLoopback(each.socket.get()); })),
        budget_(limits.core_share, limits.core_burst, clock.Now()),
        rate_(limits.heavy_per_second, limits.heavy_burst) {}

  ~MicroHttpPort() override {
    if (!thread_.joinable()) return;
    stop_ = true;
    ::eventfd_write(wake_.get(), 1);
    thread_.join();
  }

  absl::Status Prepare() {
    wake_ = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!wake_.is_open()) return CannotServe(std::strerror(errno));
    // The loop is ours, and so are the sockets that it listens on; one thread does everything.
    daemon_.reset(::MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET, 0, nullptr, nullptr,                //
        &MicroHttpPort::OnRequest, this,                                              //
        MHD_OPTION_CONNECTION_LIMIT, static_cast<unsigned>(limits_.max_connections),  //
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, limits_.connection_bytes,                 //
        MHD_OPTION_CONNECTION_TIMEOUT, 0U,                                            //
        MHD_OPTION_STRICT_FOR_CLIENT, 1,                                              //
        MHD_OPTION_NOTIFY_CONNECTION, &MicroHttpPort::OnConnection, this,             //
        MHD_OPTION_NOTIFY_COMPLETED, &MicroHttpPort::OnRequestEnd, this,              //
        MHD_OPTION_END));
    if (daemon_ == nullptr) return CannotServe("no memory or descriptors for it");
    const MHD_DaemonInfo* info = ::MHD_get_daemon_info(daemon_.get(), MHD_DAEMON_INFO_EPOLL_FD);
    if (info == nullptr || info->epoll_fd < 0) return CannotServe("no epoll");
    epoll_ = info->epoll_fd;
    thread_ = StartThread("the thread of the HTTP port", [this] { Serve(); });
    return absl::OkStatus();
  }

 private:
  static absl::Status CannotServe(std::string_view why) {
    return InvalidParameter("--http", "descriptors and memory to serve with", why);
  }

  // ---- the loop ----

  void Serve() {
    absl::Time next_tick = clock_.Now();
    while (!stop_) {
      const absl::Duration before = ThreadCpuTime();
      const absl::Time now = clock_.Now();
      if (now >= next_tick) {
        next_tick = now + kHttpTick;
        connections_.CutThoseSince(now - limits_.request_time);
        // The library overlooks the end of some that sent what is no request.
        connections_.CutThoseLeftSince(now - kHttpTick);
        if (tick_) tick_();
      }
      Accept();
      ::MHD_run(daemon_.get());
      budget_.Spend(ThreadCpuTime() - before);
      Wait(next_tick);
    }
    daemon_.reset();
  }

  // Until there is something to do that may be done now.
  void Wait(absl::Time next_tick) {
    while (!stop_) {
      const absl::Duration rest = budget_.Rest(clock_.Now());
      if (rest <= absl::ZeroDuration()) break;
      Poll({pollfd{.fd = wake_.get(), .events = POLLIN, .revents = 0}}, rest);
    }
    std::vector<pollfd> polled = {{.fd = wake_.get(), .events = POLLIN, .revents = 0},
                                  {.fd = epoll_, .events = POLLIN, .revents = 0}};
    for (const Listener& listener : listeners_)
      polled.push_back({.fd = listener.socket.get(), .events = POLLIN, .revents = 0});
    Poll(std::move(polled), TimeToWait(next_tick));
  }

  absl::Duration TimeToWait(absl::Time next_tick) const {
    absl::Duration time = std::max(next_tick - clock_.Now(), absl::ZeroDuration());
    MHD_UNSIGNED_LONG_LONG milliseconds = 0;
    if (::MHD_get_timeout(daemon_.get(), &milliseconds) == MHD_YES)
      time = std::min(time, absl::Milliseconds(static_cast<int64_t>(milliseconds)));
    return std::min(time, kHttpTick);
  }

  static void Poll(std::vector<pollfd> polled, absl::Duration time) {
    const auto milliseconds =
        static_cast<int>(absl::ToInt64Milliseconds(absl::Ceil(time, absl::Milliseconds(1))));
    ::poll(polled.data(), polled.size(), milliseconds);
  }

  void Accept() {
    for (const Listener& listener : listeners_) {
      for (int i = 0; i < kAcceptedAtOnce && MakeRoom(listener); ++i) {
        sockaddr_storage address = {};
        socklen_t size = sizeof(address);
        const int socket = ::accept4(listener.socket.get(), reinterpret_cast<sockaddr*>(&address),
                                     &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (socket < 0) break;
        ::MHD_add_connection(daemon_.get(), socket, reinterpret_cast<sockaddr*>(&address), size);
        ::MHD_run(daemon_.get());  // takes it in, and counts it
      }
    }
  }

  // Whether a connection that waits may be accepted. When there are too many, one is cut first: its
  // place is free once the loop has seen its end.
  bool MakeRoom(const Listener& listener) {
    if (connections_.size() < limits_.max_connections) return true;
    pollfd waits = {.fd = listener.socket.get(), .events = POLLIN, .revents = 0};
    if (::poll(&waits, 1, 0) <= 0) return false;
    connections_.CutOne();
    ::MHD_run(daemon_.get());
    return connections_.size() < limits_.max_connections;
  }

  // ---- called by the library, on the loop's thread ----

  static HttpConnections::Connection* ConnectionOf(MHD_Connection* connection) {
    const MHD_ConnectionInfo* info =
        ::MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == nullptr ? nullptr
                           : static_cast<HttpConnections::Connection*>(info->socket_context);
  }

  static void OnConnection(void* self, MHD_Connection* connection, void** context,
                           MHD_ConnectionNotificationCode code) {
    auto& port = *static_cast<MicroHttpPort*>(self);
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
      const MHD_ConnectionInfo* info =
          ::MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
      *context =
          &port.connections_.Add(info->connect_fd, ClientOf(info->connect_fd), port.clock_.Now());
    } else if (*context != nullptr) {
      port.connections_.Remove(*static_cast<HttpConnections::Connection*>(*context));
      *context = nullptr;
    }
  }

  static void OnRequestEnd(void* self, MHD_Connection* connection, void** /*request*/,
                           MHD_RequestTerminationCode code) {
    HttpConnections::Connection* known = ConnectionOf(connection);
    if (known == nullptr || code != MHD_REQUEST_TERMINATED_COMPLETED_OK) return;
    known->since = static_cast<MicroHttpPort*>(self)->clock_.Now();
  }

  // Is called when the headers are there, and again when the request is whole. An answer to the
  // first call is the connection's last: what is left of the request is not read.
  static MHD_Result OnRequest(void* self, MHD_Connection* connection, const char* url,
                              const char* method, const char* /*version*/, const char* /*upload*/,
                              size_t* /*upload_bytes*/, void** request) try {
    auto& port = *static_cast<MicroHttpPort*>(self);
    if (*request != nullptr) return Send(connection, port.Answer(connection, url));
    *request = self;
    if (const std::optional<HttpResponse> refusal = Refuse(connection, method))
      return Send(connection, *refusal);
    return MHD_YES;
  } catch (const std::exception&) {
    return MHD_NO;  // no memory: the connection is closed
  }

  static std::string_view Header(MHD_Connection* connection, const char* name) {
    const char* value = ::MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
    return value == nullptr ? std::string_view() : std::string_view(value);
  }

  static std::optional<HttpResponse> Refuse(MHD_Connection* connection, std::string_view method) {
    if (method != "GET" && method != "HEAD") return PlainAnswer(405, "want GET or HEAD\n");
    const std::string_view length = Header(connection, "Content-Length");
    if ((length.empty() || length == "0") && Header(connection, "Transfer-Encoding").empty())
      return std::nullopt;
    return PlainAnswer(413, "want a request without a body\n");
  }

  HttpResponse Answer(MHD_Connection* connection, std::string_view path) {
    if (loopback_only_ && !IsLocalHostHeader(Header(connection, "Host")))
      return PlainAnswer(421, "want this machine's name: localhost, or its address\n");
    const auto route = std::find_if(routes_.begin(), routes_.end(),
                                    [path](const HttpRoute& each) { return each.path == path; });
    if (route == routes_.end()) return PlainAnswer(404, "there is nothing here\n");
    if (route->weight == HttpRoute::Weight::kHeavy &&
        !rate_.Admit(ConnectionOf(connection)->client, clock_.Now())) {
      return PlainAnswer(429, "too many requests; try again in a second\n");
    }
    HttpRequest request;
    ::MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, &MicroHttpPort::OnArgument,
                                &request);
    return route->answer(request);
  }

  static MHD_Result OnArgument(void* request, MHD_ValueKind /*kind*/, const char* name,
                               const char* value) {
    static_cast<HttpRequest*>(request)->arguments.emplace_back(name, value == nullptr ? "" : value);
    return MHD_YES;
  }

  static MHD_Result Send(MHD_Connection* connection, const HttpResponse& answer) {
    const std::unique_ptr<MHD_Response, DestroyResponse> response(::MHD_create_response_from_buffer(
        answer.body.size(), const_cast<char*>(answer.body.data()), MHD_RESPMEM_MUST_COPY));
    if (response == nullptr) return MHD_NO;
    const auto add = [&response](const char* name, const char* value) {
      ::MHD_add_response_header(response.get(), name, value);
    };
    for (const auto& [name, value] : kHeaders) add(name, value);
    add("Content-Security-Policy", answer.runs_script ? kScriptPolicy : kPolicy);
    add("Content-Type", std::string(answer.content_type).c_str());
    if (answer.status == 405) add("Allow", "GET, HEAD");
    if (answer.status == 429) add("Retry-After", "1");
    return ::MHD_queue_response(connection, static_cast<unsigned>(answer.status), response.get());
  }

  const std::vector<Listener> listeners_;
  const std::vector<HttpRoute> routes_;
  const Tick tick_;
  const HttpLimits limits_;
  const Clock& clock_;
  const bool loopback_only_;
  UniqueFd wake_;
  std::atomic<bool> stop_ = false;
  // The thread's.
  int epoll_ = -1;  // the daemon's
  CpuBudget budget_;
  RequestRate rate_;
  HttpConnections connections_;
  std::unique_ptr<MHD_Daemon, StopDaemon> daemon_;
  std::thread thread_;
};

}  // namespace

std::string_view HttpRequest::Argument(std::string_view name) const {
  const auto found = std::find_if(arguments.begin(), arguments.end(),
                                  [name](const auto& each) { return each.first == name; });
  return found == arguments.end() ? std::string_view() : found->second;
}

absl::StatusOr<std::unique_ptr<HttpPort>> HttpPort::Start(std::vector<Listener> listeners,
                                                          std::vector<HttpRoute> routes, Tick tick,
                                                          const HttpLimits& limits,
                                                          const Clock& clock) {
  auto port = std::make_unique<MicroHttpPort>(std::move(listeners), std::move(routes),
                                              std::move(tick), limits, clock);
  OPSERVE_RETURN_IF_ERROR(port->Prepare());
  return port;
}

}  // namespace opserve::server
