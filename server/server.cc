#include "server/server.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <set>
#include <utility>

#include <grpc/grpc.h>
#include <grpcpp/ext/channelz_service_plugin.h>
#include <grpcpp/grpcpp.h>

#include "absl/strings/str_cat.h"
#include "core/base/clock.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"
#include "core/base/thread.h"
#include "server/access.h"
#include "server/connection_limits.h"
#include "server/connections/acceptor.h"
#include "server/connections/listener.h"
#include "server/connections/unix_socket.h"
#include "server/http_side.h"
#include "server/observing.h"
#include "server/open_addresses.h"
#include "server/shared_memory/memory_socket.h"
#include "server/shared_memory/named_region_table.h"
#include "server/tracing/call_observer.h"
#include "server/transport/process/connection_settings.h"
#include "server/transport/process/grpc_process.h"
#include "server/transport/process/stream_ender.h"
#include "server/transport/process/tls_credentials.h"
#include "server/transport/services/health_service.h"
#include "server/transport/services/inference_service.h"
#include "server/transport/services/operator_service.h"
#include "server/transport/services/reflection_service.h"
#include "server/transport/services/session_service.h"
#include "server/transport/unary/deadline.h"
#include "server/watches.h"
#include "server/whole_file.h"

namespace opserve::server {
namespace {

// That have something to serve or not to serve.
std::vector<std::string_view> ApiServices(const ClientConfig& config) {
  std::vector<std::string_view> services = {"opserve.v1.OperatorService",
                                            "opserve.v1.SessionService"};
  if (config.open_inference) services.emplace_back(kInferenceService);
  return services;
}

// Where gRPC cannot have a thread it ends the process, or never ends: of 160 runs with 16, 7.
constexpr int kThreadsOfGrpc = 24;

absl::Status WritePortFile(const std::string& path, const std::vector<std::string>& addresses,
                           const std::string& http) {
  if (path.empty()) return absl::OkStatus();
  std::string lines;
  for (const std::string& address : addresses) absl::StrAppend(&lines, address, "\n");
  if (!http.empty()) absl::StrAppend(&lines, "http://", http, "\n");
  return WriteWholeFile(path, lines, {.flag = "--port-file", .mode = 0666});
}

absl::Duration CallTimeOf(const ClientConfig& clients) {
  const bool is_bounded = clients.max_call_time > absl::ZeroDuration();
  return is_bounded ? clients.max_call_time : absl::InfiniteDuration();
}

class GrpcServer final : public Server {
 public:
  GrpcServer(std::unique_ptr<Engine> engine, const ServerConfig& config,
             const ConnectionLimits& limits)
      : observer_(ObserverOptionsOf(config.tracing)),
        watches_(limits, config),
        stream_ender_(executing_),
        open_streams_(*engine),
        engine_(std::move(engine)),
        slow_calls_file_(config.tracing.slow_calls_file) {}
  ~GrpcServer() override { Shutdown(absl::ZeroDuration()); }

  absl::Status Serve(const ServerConfig& config) {
    OPSERVE_RETURN_IF_ERROR(ShareMemory(config));
    OPSERVE_RETURN_IF_ERROR(access_.Open(config));
    MakeServices(config);
    OPSERVE_ASSIGN_OR_RETURN(std::vector<Listener> listeners, ListenOnAll(config));
    if (config.channelz) OPSERVE_RETURN_IF_ERROR(CheckChannelz(addresses_));
    if (!config.tls.is_on() && !config.insecure)
      OPSERVE_RETURN_IF_ERROR(CheckNoneIsOpen(addresses_));
    OPSERVE_RETURN_IF_ERROR(http_.Listen(config));
    if (!config.http.empty()) counters_.exemplars().Start();
    RehearseThreads(kThreadsOfGrpc, "for gRPC");  // it has none yet
    SetUpGrpc();
    OPSERVE_RETURN_IF_ERROR(StartGrpc(config));
    OPSERVE_RETURN_IF_ERROR(StartAccepting(std::move(listeners), config.connections));
    OPSERVE_RETURN_IF_ERROR(ServeHttp(config));
    health_->SetServing(true);
    readiness_.SetReady();
    return WritePortFile(config.port_file, addresses_, http_.address());
  }

  const std::vector<std::string>& addresses() const override { return addresses_; }
  const std::string& http_address() const override { return http_.address(); }
  Engine& engine() override { return *engine_; }

  void TrimIdleMemory(absl::Duration age) override {
    engine_->TrimIdleMemory(age);
    watches_.host_memory()->staging()->TrimIdle(age);
  }

  ServerCounts counts() const override { return counters_.Sum(); }
  int64_t in_flight() const override {
    const ServerCounts counts = counters_.Sum();
    int64_t calls = counts.sessions_opened - counts.sessions_closed;
    for (const ServerCounts::OfMethod& method : counts.methods) {
      calls += method.begun;
      for (const int64_t ended : method.ended) calls -= ended;
    }
    return std::max<int64_t>(calls, 0);
  }

  void CheckDevices() override {
    for (const std::unique_ptr<Device>& device : engine_->devices()) {
      const absl::Status health = device->health();
      if (health.ok() || !lost_devices_.insert(device->info().name).second) continue;
      Log(LogLevel::kError, "device lost",
          {{"name", device->info().name}, {"error", std::string(ToStd(health.message()))}});
      StopBeingReady(absl::StrCat("device ", device->info().name, " is lost"));
    }
  }

  void ReloadIdentity() override { access_.Reload(); }

  absl::Status CheckListeners() override {
    const MutexLock lock(mutex_);
    return listeners_status_;
  }

  absl::Status WriteSlowCalls() override {
    if (slow_calls_file_.empty())
      return InvalidParameter("--slow-calls-file", "a path to write them to", "none");
    return WriteWholeFile(slow_calls_file_, observer_.SlowCallsTrace(),
                          {.flag = "--slow-calls-file", .mode = 0600});
  }

  void AnnounceStop() override { StopServing("the server is about to stop (--grace-period)"); }

  void Shutdown(absl::Duration drain) override {
    const absl::Time start = Clock::Real().Now();
    http_.RefuseCalls();
    if (server_ != nullptr) ShutDownGrpc(drain);
    http_.End(start + drain - Clock::Real().Now());
    StopTracing();
    memory_socket_.reset();
    for (const std::string& path : sockets_) RemoveSocket(path);
    sockets_.clear();
  }

 private:
  void StopBeingReady(std::string why) {
    readiness_.AddReason(std::move(why));
    health_->SetServing(false);
  }

  void StopServing(std::string why) {
    StopBeingReady(std::move(why));
    if (inference_ != nullptr) inference_->SetDraining();
    http_.SetNotReady();
  }

  void ShutDownGrpc(absl::Duration drain) {
    StopServing("the server is draining");
    sessions_->Drain();
    if (acceptor_ != nullptr) acceptor_->StopAccepting();
    stream_ender_.Begin(*server_);
    server_->Shutdown(TimeFromNow(drain));
    server_->Wait();
    stream_ender_.End();
    acceptor_.reset();
    server_.reset();
  }

  void StopTracing() {
    if (observer_.exporter() == nullptr || std::exchange(tracing_stopped_, true)) return;
    observer_.Stop();
    const SpanExporter::Counts counts = observer_.exporter()->counts();
    Log(LogLevel::kInfo, "tracing ended",
        {LogNumber("calls_exported", counts.exported), LogNumber("calls_dropped", counts.dropped)});
  }

  absl::Status ShareMemory(const ServerConfig& config) {
    if (config.clients.open_inference && config.clients.open_inference_shared_memory)
      named_regions_ = std::make_unique<NamedRegionTable>(config.clients.share);
    const SharedMemoryConfig& shared = config.shared_memory;
    if (shared.socket.empty()) return absl::OkStatus();
    OPSERVE_RETURN_IF_ERROR(RemoveStaleSocket(shared.socket, kAllowSharedMemory));
    regions_ = std::make_unique<RegionTable>(shared.limit_bytes);
    OPSERVE_ASSIGN_OR_RETURN(
        memory_socket_, MemorySocket::Listen(shared.socket, config.unix_socket_mode, *regions_));
    memory_socket_path_ = std::filesystem::absolute(shared.socket).string();
    return absl::OkStatus();
  }

  ExecuteContext CallsOf(const ServerConfig& config) {
    return {.gate = access_.gate(),
            .engine = *engine_,
            .counters = counters_,
            .observer = observer_,
            .load_reports = watches_.load_reports(),
            .executing = executing_,
            .plans = plans_,
            .connections = watches_.connections(),
            .answers = watches_.answers(),
            .host_memory = *watches_.host_memory(),
            .max_message_bytes = config.max_message_bytes,
            .max_inflated_bytes = config.clients.max_inflated_bytes,
            .regions = regions_.get(),
            .named_regions = named_regions_.get()};
  }

  void MakeServices(const ServerConfig& config) {
    service_ = MakeOperatorService({.calls = CallsOf(config),
                                    .recommended_chunk_bytes = config.session.chunk_bytes,
                                    .shared_memory_socket = memory_socket_path_});
    if (config.clients.open_inference) inference_ = MakeInferenceService(CallsOf(config));
    sessions_ =
        MakeSessionServer(*engine_, {.limits = config.session,
                                     .max_sessions = config.max_sessions,
                                     .client_share = config.clients.share,
                                     .max_inflated_bytes = config.clients.max_inflated_bytes,
                                     .executing = &executing_,
                                     .kept_threads = &kept_threads_,
                                     .plans = &plans_,
                                     .open_streams = &open_streams_,
                                     .counters = &counters_,
                                     .observer = &observer_,
                                     .connections = &watches_.connections(),
                                     .gate = &access_.gate(),
                                     .host_memory = watches_.host_memory()});
    const std::vector<std::string_view> services = ApiServices(config.clients);
    health_ = MakeHealthService(services, config.clients.max_inflated_bytes);
    if (config.clients.reflection)
      reflection_ =
          MakeReflectionServices(services, config.clients.max_inflated_bytes, access_.gate());
  }

  absl::StatusOr<std::vector<Listener>> ListenOnAll(const ServerConfig& config) {
    std::vector<Listener> listeners;
    for (const std::string& address : config.listen) {
      OPSERVE_ASSIGN_OR_RETURN(Listening listening, Listen(address, config.unix_socket_mode));
      addresses_.push_back(std::move(listening.address));
      if (const std::string path = UnixSocketPath(address); !path.empty()) sockets_.push_back(path);
      for (Listener& listener : listening.listeners) {
        listener.speaks_tls = config.tls.is_on() && !listener.is_unix;
        listeners.push_back(std::move(listener));
      }
    }
    return listeners;
  }

  absl::Status ServeHttp(const ServerConfig& config) {
    const ViewSources sources = {.engine = *engine_,
                                 .counters = counters_,
                                 .connections = watches_.connections(),
                                 .plans = plans_,
                                 .open_streams = open_streams_,
                                 .host_memory = *watches_.host_memory(),
                                 .regions = regions_.get(),
                                 .named_regions = named_regions_.get(),
                                 .certificates = access_.certificates(),
                                 .readiness = readiness_};
    return http_.Serve(config, sources,
                       {.engine = *engine_,
                        .counters = counters_,
                        .observer = observer_,
                        .plans = plans_,
                        .host_memory = *watches_.host_memory(),
                        .named_regions = named_regions_.get(),
                        .tokens = access_.tokens(),
                        .max_message_bytes = config.max_message_bytes,
                        .client_share = config.clients.share},
                       addresses_);
  }

  absl::Status StartGrpc(const ServerConfig& config) {
    if (config.channelz) grpc::channelz::experimental::InitChannelzService();
    grpc::ServerBuilder builder;
    builder.RegisterService(service_.get());
    builder.RegisterService(&sessions_->service());
    if (inference_ != nullptr) builder.RegisterService(&inference_->service());
    builder.RegisterService(&health_->service());
    for (const auto& reflection : reflection_) builder.RegisterService(reflection.get());
    builder.SetMaxReceiveMessageSize(static_cast<int>(config.max_message_bytes));
    builder.SetMaxSendMessageSize(static_cast<int>(config.max_message_bytes));
    SetUpConnections(config.connections, builder);
    SetUpCompression(config.clients.max_inflated_bytes, builder);
    const auto add_acceptor = [&](const std::shared_ptr<grpc::ServerCredentials>& credentials) {
      return builder.experimental().AddExternalConnectionAcceptor(
          grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, credentials);
    };
    plain_acceptor_ = add_acceptor(grpc::InsecureServerCredentials());
    if (access_.certificates() != nullptr)
      tls_acceptor_ = add_acceptor(MakeTlsCredentials(*access_.certificates()));
    server_ = builder.BuildAndStart();
    return server_ != nullptr ? absl::OkStatus() : absl::InternalError("gRPC did not start");
  }

  absl::Status StartAccepting(std::vector<Listener> listeners, const ConnectionConfig& config) {
    Acceptor::Options options;
    // Of unix sockets gRPC's name is learnt from who is new.
    options.on_accepted = [this](const std::shared_ptr<Connection>& connection) {
      if (connection->peer().is_ip()) watches_.streams().NoteNew(connection);
    };
    options.on_handed_over = [this](const std::shared_ptr<Connection>& connection) {
      if (!connection->peer().is_ip()) watches_.streams().NoteNew(connection);
    };
    options.hand_over = [this](const Acceptor::Arrival& arrival) {
      grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
      connection.listener_fd = arrival.listener;
      connection.fd = arrival.socket;
      (arrival.speaks_tls ? tls_acceptor_ : plain_acceptor_)->HandleNewConnection(&connection);
    };
    options.on_dead_listener = [this](std::string_view reason) {
      const MutexLock lock(mutex_);
      listeners_status_ = InvalidParameter("--listen", "sockets that accept connections",
                                           std::string("one that does not: ").append(reason));
    };
    options.is_crowded = [this](ClientId client) { return watches_.answers().IsCrowd(client); };
    options.on_tick = [this] {
      watches_.Tick([this] { return counters_.Sum().ended(); },
                    [this] { return engine_->statistics().expected_wait; });
    };
    if (config.keepalive_time > absl::ZeroDuration())
      options.unacknowledged_timeout = config.keepalive_timeout;
    OPSERVE_ASSIGN_OR_RETURN(
        acceptor_,
        Acceptor::Start(std::move(listeners), watches_.connections(), std::move(options)));
    return absl::OkStatus();
  }

  // Destroyed from the end: the engine's workers finish what they have while all that their tasks
  // use is there.
  std::atomic<int64_t> executing_ = 0;
  std::atomic<int64_t> kept_threads_ = 0;
  ServerCounters counters_;
  CallObserver observer_;
  Watches watches_;  // its Tick: the acceptor's thread
  StreamEnder stream_ender_;
  OpenStreams open_streams_;  // sessions that tasks of the engine still hold close theirs
  Mutex mutex_;
  absl::Status listeners_status_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<RegionTable> regions_;             // none where shared memory is not allowed
  std::unique_ptr<NamedRegionTable> named_regions_;  // likewise, of the Open Inference Protocol
  std::unique_ptr<MemorySocket> memory_socket_;
  std::string memory_socket_path_;
  Access access_;
  std::unique_ptr<grpc::Service> service_;
  std::unique_ptr<SessionServer> sessions_;
  std::unique_ptr<InferenceService> inference_;  // none where it is not wanted
  std::unique_ptr<HealthService> health_;
  std::vector<std::unique_ptr<grpc::Service>> reflection_;  // none where it is not wanted
  PlanCache plans_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> plain_acceptor_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> tls_acceptor_;  // of TLS
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<Acceptor> acceptor_;
  std::vector<std::string> addresses_;
  std::vector<std::string> sockets_;
  const std::string slow_calls_file_;
  bool tracing_stopped_ = false;
  std::set<std::string> lost_devices_;  // that were told of
  Readiness readiness_;
  HttpSide http_;  // reads of all that is above
};

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerConfig& config) try {
  OPSERVE_ASSIGN_OR_RETURN(
      std::unique_ptr<Engine> engine,
      Engine::Create({.devices = config.devices,
                      .ascend_library_paths = config.ascend_library_paths,
                      .memory_limit_bytes = config.memory_limit_bytes,
                      .client_share = config.clients.share,
                      .admission = config.admission,
                      .calls = {.max_time = CallTimeOf(config.clients),
                                .max_program_steps = config.clients.max_program_steps}}));
  OPSERVE_ASSIGN_OR_RETURN(const ConnectionLimits limits, LimitsOf(config));
  auto server = std::make_unique<GrpcServer>(std::move(engine), config, limits);
  OPSERVE_RETURN_IF_ERROR(server->Serve(config));
  return server;
} catch (const ThreadError& error) {
  return NoThread(error);
}

}  // namespace opserve::server
