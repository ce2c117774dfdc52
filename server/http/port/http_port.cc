#include "server/http/port/http_port.h"

#include <microhttpd.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/thread.h"
#include "core/base/unique_fd.h"
#include "server/connections/peer_user.h"
#include "server/http/port/cpu_budget.h"
#include "server/http/port/host_name.h"
#include "server/http/port/http_answer.h"
#include "server/http/port/http_connections.h"
#include "server/http/port/http_head.h"
#include "server/http/port/request_rate.h"
#include "server/http/port/socket_ends.h"
#include "server/http/port/waiting_call.h"

namespace opserve::server {
namespace {

constexpr absl::Duration kHttpTick = absl::Seconds(1);
constexpr double kBytesPerSecond = 1 << 20;  // of bodies, that a client must bring or take
// Bodies of refused requests that are read all the same.
constexpr uint64_t kDroppedBody = uint64_t{64} << 10;
// Accepted before what is there is served.
constexpr int kAcceptedAtOnce = 8;

struct StopDaemon {
  void operator()(MHD_Daemon* daemon) const { ::MHD_stop_daemon(daemon); }
};

class MicroHttpPort final : public HttpPort {
 public:
  MicroHttpPort(std::vector<Listener> listeners, std::vector<HttpRoute> routes, Tick tick,
                const HttpLimits& limits, HttpApi* api, const Clock& clock)
      : listeners_(std::move(listeners)),
        routes_(std::move(routes)),
        tick_(std::move(tick)),
        limits_(limits),
        api_(api),
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
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME, 0, nullptr,
        nullptr,                                                                      //
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
    waiting_.emplace(wake_.get());
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
      ResumeAnswered();
      ::MHD_run(daemon_.get());
      const double part = std::exchange(events_, {}).part_of_others(answers_of_work_ > 0);
      budget_.Spend((ThreadCpuTime() - before) * part);
      Wait(next_tick);
    }
    EndWaiting();
    daemon_.reset();
  }

  void EndWaiting() {  // before the library, which must not end while connections are suspended
    waiting_->CancelAll();
    while (!waiting_->empty()) {
      std::vector<pollfd> woken = {{.fd = wake_.get(), .events = POLLIN, .revents = 0}};
      Poll(woken, kHttpTick);
      ResumeAnswered();
    }
  }

  void ResumeAnswered() {
    for (const std::shared_ptr<WaitingCall>& call : waiting_->TakeAnswered()) {
      HttpConnections::Connection& connection = *ConnectionOf(call->connection());
      connection.is_waiting = false;
      connection.since = clock_.Now();
      connection.extra = TimeFor(call->answer_bytes());
      ::MHD_resume_connection(call->connection());
    }
  }

  static absl::Duration TimeFor(uint64_t bytes) {
    return absl::Seconds(static_cast<double>(bytes) / kBytesPerSecond);
  }

  // Until there is something to do that may be done now.
  void Wait(absl::Time next_tick) {
    bool is_woken = false;  // by an answer, which waits for the next turn
    while (!stop_) {
      const absl::Duration rest = budget_.Rest(clock_.Now());
      if (rest <= absl::ZeroDuration()) break;
      std::vector<pollfd> woken = {{.fd = wake_.get(), .events = POLLIN, .revents = 0}};
      is_woken = Poll(woken, rest) || is_woken;
    }
    std::vector<pollfd> polled = {{.fd = wake_.get(), .events = POLLIN, .revents = 0},
                                  {.fd = epoll_, .events = POLLIN, .revents = 0}};
    for (const Listener& listener : listeners_)
      polled.push_back({.fd = listener.socket.get(), .events = POLLIN, .revents = 0});
    // The library does not look at those.
    const size_t first = polled.size();
    waiting_->AddTo(polled);
    Poll(polled, is_woken ? absl::ZeroDuration() : TimeToWait(next_tick));
    waiting_->CancelThoseThatLeft(std::span(polled).subspan(first));
  }

  absl::Duration TimeToWait(absl::Time next_tick) const {
    absl::Duration time = std::max(next_tick - clock_.Now(), absl::ZeroDuration());
    MHD_UNSIGNED_LONG_LONG milliseconds = 0;
    if (::MHD_get_timeout(daemon_.get(), &milliseconds) == MHD_YES)
      time = std::min(time, absl::Milliseconds(static_cast<int64_t>(milliseconds)));
    return std::min(time, kHttpTick);
  }

  // Whether it was woken. The first of `polled` is wake_.
  static bool Poll(std::vector<pollfd>& polled, absl::Duration time) {
    const auto milliseconds =
        static_cast<int>(absl::ToInt64Milliseconds(absl::Ceil(time, absl::Milliseconds(1))));
    ::poll(polled.data(), polled.size(), milliseconds);
    eventfd_t woken = 0;
    return ::eventfd_read(polled.front().fd, &woken) == 0;
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

  // What the library told of requests since the loop's last turn.
  struct Events {
    size_t of_work = 0;
    size_t of_others = 0;
    // Of the time that the turn took. A turn without any went into the answers that are being sent.
    double part_of_others(bool sends_work) const {
      if (of_work == 0) return of_others == 0 && sends_work ? 0 : 1;
      return static_cast<double>(of_others) / static_cast<double>(of_work + of_others);
    }
  };

  // What is known of one request between the library's calls.
  struct Exchange {
    std::optional<HttpResponse> refusal;  // to be sent once the body has come
    std::shared_ptr<HttpBody> body;       // of the API's requests
    std::shared_ptr<WaitingCall> call;    // once the body is there
    bool has_length = false;
    bool sends_work = false;  // its answer is being sent, and is one of work
  };

  static void OnConnection(void* self, MHD_Connection* connection, void** context,
                           MHD_ConnectionNotificationCode code) {
    auto& port = *static_cast<MicroHttpPort*>(self);
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
      const MHD_ConnectionInfo* info =
          ::MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
      *context = &port.connections_.Add(info->connect_fd, PeerOf(info->connect_fd).client(),
                                        port.clock_.Now());
    } else if (*context != nullptr) {
      port.connections_.Remove(*static_cast<HttpConnections::Connection*>(*context));
      *context = nullptr;
    }
  }

  static void OnRequestEnd(void* self, MHD_Connection* connection, void** request,
                           MHD_RequestTerminationCode code) {
    auto& port = *static_cast<MicroHttpPort*>(self);
    const std::unique_ptr<Exchange> ended(static_cast<Exchange*>(std::exchange(*request, nullptr)));
    if (ended != nullptr && ended->sends_work) --port.answers_of_work_;
    HttpConnections::Connection* known = ConnectionOf(connection);
    if (known == nullptr || code != MHD_REQUEST_TERMINATED_COMPLETED_OK) return;
    known->since = port.clock_.Now();
    known->extra = port.limits_.idle_time;
  }

  // Is called when the headers are there, with each piece of a body, and again when the request is
  // whole or its answer known. An answer to the first call is the connection's last: what is left
  // of the request is not read.
  static MHD_Result OnRequest(void* self, MHD_Connection* connection, const char* url,
                              const char* method, const char* /*version*/, const char* upload,
                              size_t* upload_bytes, void** request) try {
    auto& port = *static_cast<MicroHttpPort*>(self);
    if (*request == nullptr) {
      auto exchange = std::make_unique<Exchange>();
      const std::optional<HttpResponse> refusal = port.Begin(connection, url, method, *exchange);
      *request = exchange.release();
      return refusal.has_value() ? SendAnswer(connection, *refusal) : MHD_YES;
    }
    auto& exchange = *static_cast<Exchange*>(*request);
    ++(exchange.body != nullptr && exchange.body->IsWork() ? port.events_.of_work
                                                           : port.events_.of_others);
    if (*upload_bytes == 0) return port.Answer(connection, url, exchange);
    if (exchange.body == nullptr && !exchange.refusal.has_value()) exchange.refusal = WithoutBody();
    if (!exchange.refusal.has_value())
      exchange.refusal = exchange.body->Take(std::as_bytes(std::span(upload, *upload_bytes)));
    // Nobody knew how long the body will be.
    if (!exchange.has_length && !exchange.refusal.has_value())
      ConnectionOf(connection)->extra += TimeFor(*upload_bytes);
    *upload_bytes = 0;
    return MHD_YES;
  } catch (const std::exception&) {
    return MHD_NO;  // no memory: the connection is closed
  }

  // With an answer, the connection's last.
  std::optional<HttpResponse> Begin(MHD_Connection* connection, std::string_view path,
                                    std::string_view method, Exchange& exchange) {
    if (loopback_only_ && !IsLocalHostHeader(HeaderOf(connection, "Host")))
      exchange.refusal = PlainAnswer(421, "want the header Host with localhost or an IP address\n");
    const BodySize body = BodySizeOf(connection);
    if (api_ == nullptr || !api_->Has(path)) {
      if (method != "GET" && method != "HEAD") return NoSuchMethod();
      if (body.has_body) return WithoutBody();
      return std::nullopt;
    }
    exchange.has_length = body.has_length;
    BeginWithApi(connection, path, method, body.bytes, exchange);
    // What is short is read, so that the connection may go on.
    if (exchange.refusal.has_value() && body.has_body &&
        (!body.has_length || body.bytes > kDroppedBody))
      return std::exchange(exchange.refusal, std::nullopt);
    return std::nullopt;
  }

  void BeginWithApi(MHD_Connection* connection, std::string_view path, std::string_view method,
                    uint64_t length, Exchange& exchange) {
    HttpConnections::Connection& known = *ConnectionOf(connection);
    known.since = clock_.Now();
    known.extra = TimeFor(length);
    if (exchange.refusal.has_value()) return;
    if (api_->IsHeavy(path) && !rate_.Admit(known.client, clock_.Now())) {
      exchange.refusal = TooManyRequests();
      return;
    }
    HttpHead head{.method = method, .path = path, .headers = {}, .client = known.client};
    head.peer = PeerOf(known.socket).text();
    head.user = [&known] {
      if (!known.user.has_value()) known.user = PeerUser(known.socket);
      return *known.user;
    };
    ReadHeaders(connection, head);
    HttpApi::Begun begun = api_->Begin(head);
    if (auto* refusal = std::get_if<HttpResponse>(&begun)) {
      exchange.refusal = std::move(*refusal);
    } else {
      exchange.body = std::get<std::shared_ptr<HttpBody>>(std::move(begun));
    }
  }

  MHD_Result Answer(MHD_Connection* connection, std::string_view path, Exchange& exchange) {
    if (exchange.refusal.has_value()) return SendAnswer(connection, *std::move(exchange.refusal));
    if (exchange.body == nullptr) return SendAnswer(connection, AnswerOfRoute(connection, path));
    if (exchange.call == nullptr) {
      HttpConnections::Connection& known = *ConnectionOf(connection);
      exchange.call = std::make_shared<WaitingCall>(*waiting_, connection, known.socket);
      exchange.body->End(exchange.call);
    }
    std::optional<HttpResponse> answer = exchange.call->TakeAnswerOrWait();
    if (answer.has_value()) {
      exchange.sends_work = exchange.body->IsWork();
      if (exchange.sends_work) ++answers_of_work_;
      return SendAnswer(connection, *std::move(answer));
    }
    ConnectionOf(connection)->is_waiting = true;
    ::MHD_suspend_connection(connection);
    return MHD_YES;
  }

  HttpResponse AnswerOfRoute(MHD_Connection* connection, std::string_view path) {
    const auto route = std::find_if(routes_.begin(), routes_.end(),
                                    [path](const HttpRoute& each) { return each.path == path; });
    if (route == routes_.end()) return PlainAnswer(404, "there is no such page\n");
    if (route->weight == HttpRoute::Weight::kHeavy &&
        !rate_.Admit(ConnectionOf(connection)->client, clock_.Now())) {
      return TooManyRequests();
    }
    return route->answer(ReadRequest(connection));
  }

  const std::vector<Listener> listeners_;
  const std::vector<HttpRoute> routes_;
  const Tick tick_;
  const HttpLimits limits_;
  HttpApi* const api_;  // nullptr where there is none
  const Clock& clock_;
  const bool loopback_only_;
  UniqueFd wake_;
  std::atomic<bool> stop_ = false;
  std::optional<WaitingCalls> waiting_;
  // The thread's.
  int epoll_ = -1;  // the daemon's
  CpuBudget budget_;
  Events events_;
  size_t answers_of_work_ = 0;  // that are being sent
  RequestRate rate_;
  HttpConnections connections_;
  std::unique_ptr<MHD_Daemon, StopDaemon> daemon_;
  std::thread thread_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<HttpPort>> HttpPort::Start(std::vector<Listener> listeners,
                                                          std::vector<HttpRoute> routes, Tick tick,
                                                          const HttpLimits& limits, HttpApi* api,
                                                          const Clock& clock) {
  auto port = std::make_unique<MicroHttpPort>(std::move(listeners), std::move(routes),
                                              std::move(tick), limits, api, clock);
  OPSERVE_RETURN_IF_ERROR(port->Prepare());
  return port;
}

}  // namespace opserve::server
