#include "server/server.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <utility>

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"
#include "server/services/operator_service.h"
#include "server/services/session_service.h"
#include "server/shared_memory/memory_socket.h"
#include "server/stream_ender.h"
#include "server/unix_socket.h"

namespace opserve::server {
namespace {

constexpr const char* kServiceNames[] = {"opserve.v1.OperatorService", "opserve.v1.SessionService"};

void LogOfGrpc(gpr_log_func_args* args) {
  LogLevel level = LogLevel::kDebug;
  if (args->severity == GPR_LOG_SEVERITY_INFO) level = LogLevel::kInfo;
  if (args->severity == GPR_LOG_SEVERITY_ERROR) level = LogLevel::kError;
  if (!LogEnabled(level)) return;
  Log(level, args->message, {{"source", absl::StrCat(args->file, ":", args->line)}});
}

// What it says about messages, a client can make it say at will.
void LogOfProtobuf(google::protobuf::LogLevel severity, const char* file, int line,
                   const std::string& message) {
  const bool fatal = severity == google::protobuf::LOGLEVEL_FATAL;
  Log(fatal ? LogLevel::kError : LogLevel::kDebug, message,
      {{"source", absl::StrCat(file, ":", line)}});
}

// Once a process.
void SetUpGrpc() {
  [[maybe_unused]] static const bool done = [] {
    gpr_set_log_function(LogOfGrpc);
    google::protobuf::SetLogHandler(LogOfProtobuf);
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    return true;
  }();
}

absl::Status WritePortFile(const std::string& path, const std::vector<std::string>& addresses) {
  if (path.empty()) return absl::OkStatus();
  const std::string unfinished = absl::StrCat(path, ".", getpid());
  std::ofstream file(unfinished);
  for (const std::string& address : addresses) file << address << "\n";
  file.close();
  if (file.good() && std::rename(unfinished.c_str(), path.c_str()) == 0) return absl::OkStatus();
  ::unlink(unfinished.c_str());
  return InvalidParameter("--port-file", "a path that can be written", path);
}

// Zero is "never", which is gRPC's largest number.
void AddTime(grpc::ServerBuilder& builder, const char* argument, absl::Duration time) {
  const int never = std::numeric_limits<int>::max();
  const bool is_set = time > absl::ZeroDuration();
  builder.AddChannelArgument(argument,
                             is_set ? static_cast<int>(absl::ToInt64Milliseconds(time)) : never);
}

void SetUpConnections(const ConnectionConfig& config, grpc::ServerBuilder& builder) {
  // Two servers on one port would share its calls silently.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, config.max_concurrent_streams);
  AddTime(builder, GRPC_ARG_MAX_CONNECTION_AGE_MS, config.max_age);
  AddTime(builder, GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS, config.max_age_grace);
  AddTime(builder, GRPC_ARG_MAX_CONNECTION_IDLE_MS, config.max_idle);
  AddTime(builder, GRPC_ARG_KEEPALIVE_TIME_MS, config.keepalive_time);
  AddTime(builder, GRPC_ARG_KEEPALIVE_TIMEOUT_MS, config.keepalive_timeout);
  if (config.memory_quota_bytes == 0) return;
  grpc::ResourceQuota quota("opserve");
  quota.Resize(static_cast<size_t>(config.memory_quota_bytes));
  builder.SetResourceQuota(quota);
}

class GrpcServer final : public Server {
 public:
  explicit GrpcServer(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}
  ~GrpcServer() override { Shutdown(absl::ZeroDuration()); }

  absl::Status Serve(const ServerConfig& config) {
    SetUpGrpc();
    OPSERVE_RETURN_IF_ERROR(ShareMemory(config.shared_memory));
    service_ = MakeOperatorService(*engine_, {.max_message_bytes = config.max_message_bytes,
                                              .executing = &executing_,
                                              .plans = &plans_,
                                              .counters = &counters_,
                                              .regions = regions_.get(),
                                              .shared_memory_socket = memory_socket_path_});
    grpc::ServerBuilder builder;
    sessions_ = MakeSessionServer(*engine_, {.limits = config.session,
                                             .max_sessions = config.max_sessions,
                                             .stall_timeout = config.session_stall_timeout,
                                             .executing = &executing_,
                                             .plans = &plans_,
                                             .counters = &counters_});
    builder.RegisterService(service_.get());
    builder.RegisterService(&sessions_->service());
    builder.SetMaxReceiveMessageSize(static_cast<int>(config.max_message_bytes));
    builder.SetMaxSendMessageSize(static_cast<int>(config.max_message_bytes));
    SetUpConnections(config.connections, builder);
    std::vector<int> ports(config.listen.size(), 0);
    for (size_t i = 0; i < config.listen.size(); ++i) {
      const std::string path = UnixSocketPath(config.listen[i]);
      if (!path.empty()) {
        OPSERVE_RETURN_IF_ERROR(RemoveStaleSocket(path));
        sockets_.push_back(path);
      }
      builder.AddListeningPort(config.listen[i], grpc::InsecureServerCredentials(), &ports[i]);
    }
    server_ = builder.BuildAndStart();
    OPSERVE_RETURN_IF_ERROR(CheckBound(config.listen, ports));
    SetServing(true);
    return WritePortFile(config.port_file, addresses_);
  }

  const std::vector<std::string>& addresses() const override { return addresses_; }
  Engine& engine() override { return *engine_; }

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
      SetServing(false);
    }
  }

  void AnnounceStop() override { SetServing(false); }

  void Shutdown(absl::Duration drain) override {
    if (server_ == nullptr) return;
    SetServing(false);
    sessions_->Drain();
    {
      const StreamEnder ender(*server_, executing_);
      server_->Shutdown(std::chrono::system_clock::now() + absl::ToChronoMilliseconds(drain));
      server_->Wait();
    }
    server_.reset();
    memory_socket_.reset();
    for (const std::string& path : sockets_) RemoveSocket(path);
  }

 private:
  absl::Status ShareMemory(const SharedMemoryConfig& config) {
    if (config.socket.empty()) return absl::OkStatus();
    OPSERVE_RETURN_IF_ERROR(RemoveStaleSocket(config.socket, kAllowSharedMemory));
    regions_ = std::make_unique<RegionTable>(config.limit_bytes);
    OPSERVE_ASSIGN_OR_RETURN(memory_socket_, MemorySocket::Listen(config.socket, *regions_));
    memory_socket_path_ = std::filesystem::absolute(config.socket).string();
    return absl::OkStatus();
  }

  absl::Status CheckBound(const std::vector<std::string>& wanted, const std::vector<int>& ports) {
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (ports[i] == 0) {
        return InvalidParameter("--listen", "an address that can be bound",
                                absl::StrCat(wanted[i], ", which cannot (see the log)"));
      }
      addresses_.push_back(
          UnixSocketPath(wanted[i]).empty()
              ? absl::StrCat(wanted[i].substr(0, wanted[i].rfind(':')), ":", ports[i])
              : wanted[i]);
    }
    if (server_ != nullptr) return absl::OkStatus();
    return absl::InternalError("gRPC did not start");
  }

  void SetServing(bool serving) {
    grpc::HealthCheckServiceInterface* health = server_->GetHealthCheckService();
    health->SetServingStatus(serving);
    for (const char* name : kServiceNames) health->SetServingStatus(name, serving);
  }

  // Destroyed in the order that is safe: server, service, engine.
  std::unique_ptr<Engine> engine_;
  std::atomic<int64_t> executing_ = 0;
  PlanCache plans_;
  ServerCounters counters_;
  std::unique_ptr<RegionTable> regions_;  // none where shared memory is not allowed
  std::unique_ptr<MemorySocket> memory_socket_;
  std::string memory_socket_path_;
  std::unique_ptr<grpc::Service> service_;
  std::unique_ptr<SessionServer> sessions_;
  std::unique_ptr<grpc::Server> server_;
  std::vector<std::string> addresses_;
  std::vector<std::string> sockets_;
  std::set<std::string> lost_devices_;  // that were told of
};

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerConfig& config) {
  OPSERVE_ASSIGN_OR_RETURN(std::unique_ptr<Engine> engine,
                           Engine::Create({.devices = config.devices,
                                           .ascend_library_paths = config.ascend_library_paths,
                                           .memory_limit_bytes = config.memory_limit_bytes,
                                           .admission = config.admission}));
  auto server = std::make_unique<GrpcServer>(std::move(engine));
  OPSERVE_RETURN_IF_ERROR(server->Serve(config));
  return server;
}

}  // namespace opserve::server
