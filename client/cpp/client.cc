#include <opserve/client.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>

#include <opserve/shared_memory.h>

#include "absl/strings/str_cat.h"
#include "client/cpp/memory/local_memory.h"
#include "client/cpp/memory/shared_execute.h"
#include "client/cpp/transport/connection.h"
#include "client/cpp/transport/target.h"
#include "client/cpp/wire/messages.h"
#include "core/base/clock.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve::client {
namespace {

constexpr char kGetServerInfo[] = "/opserve.v1.OperatorService/GetServerInfo";
constexpr char kListOperators[] = "/opserve.v1.OperatorService/ListOperators";
constexpr char kListDevices[] = "/opserve.v1.OperatorService/ListDevices";
constexpr char kGetWorkspaceSize[] = "/opserve.v1.OperatorService/GetWorkspaceSize";
constexpr char kExecute[] = "/opserve.v1.OperatorService/Execute";
constexpr char kExecuteBatch[] = "/opserve.v1.OperatorService/ExecuteBatch";
constexpr char kGetStatistics[] = "/opserve.v1.OperatorService/GetStatistics";

constexpr absl::Duration kAskForLimits = absl::Seconds(5);
constexpr absl::Duration kAskForMemory = absl::Seconds(1);

// Starts a call whose answer `read` turns into a T.
template <typename T, typename Read>
CallHandle Start(Connection& connection, const char* method, const Request& request,
                 const CallOptions& options, Read read, Done<T> done) {
  if (absl::Status status = CheckTraceParent(options.traceparent); !status.ok()) {
    done(std::move(status));
    return {};
  }
  auto ended = [read = std::move(read), done = std::move(done)](absl::Status status,
                                                                const Fragments& answer) mutable {
    done(status.ok() ? read(answer) : absl::StatusOr<T>(std::move(status)));
  };
  return CallHandle(
      connection.Start(method, request, {options.timeout, options.traceparent}, std::move(ended)));
}

// The same on this thread. `tries` is as in RpcOptions.
template <typename T, typename Read>
absl::StatusOr<T> CallHere(const Connection& connection, const char* method, const Request& request,
                           const CallOptions& options, const Read& read, int tries = 0) {
  OPSERVE_RETURN_IF_ERROR(CheckTraceParent(options.traceparent));
  absl::StatusOr<T> value = absl::InternalError("no answer");
  RpcOptions rpc{.timeout = options.timeout, .traceparent = options.traceparent, .tries = tries};
  OPSERVE_RETURN_IF_ERROR(connection.Call(method, request, std::move(rpc),
                                          [&](const Fragments& answer) { value = read(answer); }));
  return value;
}

absl::Status TooLarge(const std::string& op, size_t bytes, std::string_view limit) {
  return MakeError({.reason = ErrorReason::kResourceLimit,
                    .op = op,
                    .parameter = "max_message_bytes",
                    .want = absl::StrCat("a request of at most ", std::string(limit)),
                    .got = absl::StrCat(bytes, " bytes")});
}

absl::Status FitsTransport(const std::string& op, size_t bytes) {
  if (bytes <= kTransportMaxBytes) return absl::OkStatus();
  return TooLarge(op, bytes, absl::StrCat(kTransportMaxBytes, " bytes, the limit of gRPC"));
}

// The transport refuses a message by size with a bare status. The server's limit explains it.
bool WantsExplanation(const absl::Status& status) {
  return absl::IsResourceExhausted(status) && !GetErrorDetail(status).has_value();
}

absl::Status Explained(absl::Status status, const absl::StatusOr<ServerInfo>& info,
                       const std::string& target, const std::string& op, size_t bytes) {
  if (!info.ok() || static_cast<int64_t>(bytes) <= info->max_message_bytes) return status;
  return TooLarge(op, bytes,
                  absl::StrCat(info->max_message_bytes, " bytes, the limit of ", target));
}

// Asks the server for its limit.
template <typename T>
void ExplainTooLarge(const std::shared_ptr<Connection>& connection, const std::string& op,
                     size_t bytes, absl::Status status, Done<T> done) {
  auto explain = [connection, op, bytes, status = std::move(status),
                  done = std::move(done)](const absl::StatusOr<ServerInfo>& info) mutable {
    done(Explained(std::move(status), info, connection->target(), op, bytes));
  };
  Start<ServerInfo>(*connection, kGetServerInfo, {}, {kAskForLimits}, &ReadServerInfo,
                    std::move(explain));
}

// Starts a call that can be too large for the transport. `op` is empty when it is a batch; `tries`
// is as in RpcOptions.
template <typename T, typename Read>
CallHandle StartLarge(const std::shared_ptr<Connection>& connection, const char* method,
                      const Request& request, const std::string& op, const CallOptions& options,
                      int tries, Read read, Done<T> done) {
  const size_t bytes = request.size_bytes();
  if (absl::Status status = FitsTransport(op, bytes); !status.ok()) {
    done(std::move(status));
    return {};
  }
  if (absl::Status status = CheckTraceParent(options.traceparent); !status.ok()) {
    done(std::move(status));
    return {};
  }
  auto ended = [connection, op, bytes, read, done = std::move(done)](
                   absl::Status status, const Fragments& answer) mutable {
    if (status.ok()) {
      absl::StatusOr<T> value = read(answer);
      // The shared memory that the call kept is free before its caller goes on.
      { const Read last = std::move(read); }
      return done(std::move(value));
    }
    if (!WantsExplanation(status)) return done(std::move(status));
    ExplainTooLarge<T>(connection, op, bytes, std::move(status), std::move(done));
  };
  RpcOptions rpc{.timeout = options.timeout, .traceparent = options.traceparent, .tries = tries};
  return CallHandle(connection->Start(method, request, std::move(rpc), std::move(ended)));
}

// The same on this thread.
template <typename T, typename Read>
absl::StatusOr<T> CallLargeHere(const std::shared_ptr<Connection>& connection, const char* method,
                                const Request& request, const std::string& op,
                                const CallOptions& options, int tries, const Read& read) {
  const size_t bytes = request.size_bytes();
  if (absl::Status status = FitsTransport(op, bytes); !status.ok()) return status;
  absl::StatusOr<T> value = CallHere<T>(*connection, method, request, options, read, tries);
  if (!WantsExplanation(value.status())) return value;
  const absl::StatusOr<ServerInfo> info =
      CallHere<ServerInfo>(*connection, kGetServerInfo, {}, {kAskForLimits}, &ReadServerInfo);
  return Explained(value.status(), info, connection->target(), op, bytes);
}

// What the caller knows of the answers to calls; and the shared memory of calls, which is not to be
// released before they have ended.
struct KeptCalls {
  std::vector<SharedPlace> inputs;
  std::vector<AskedOutputs> asked;  // of each call
};

// nullptr where there is neither.
std::shared_ptr<const KeptCalls> Keep(std::span<const Call> calls) {
  std::shared_ptr<KeptCalls> kept;
  const auto keep = [&]() -> KeptCalls& {
    if (kept == nullptr) kept = std::make_shared<KeptCalls>();
    kept->asked.resize(calls.size());
    return *kept;
  };
  for (size_t i = 0; i < calls.size(); ++i) {
    for (const auto& [name, view] : calls[i].inputs()) {
      if (view.shared.region != nullptr) keep().inputs.push_back(view.shared);
    }
    if (!calls[i].outputs().empty() || !calls[i].output_dtypes().empty())
      keep().asked[i] = AskedOf(calls[i]);
  }
  return kept;
}

auto ReaderOf(const Call& call) {
  return [kept = Keep(std::span(&call, 1))](const Fragments& answer) {
    return kept == nullptr ? ReadExecuteResult(answer)
                           : ReadExecuteResult(answer, kept->asked.front());
  };
}

auto ReaderOf(std::span<const Call> calls) {
  return [count = calls.size(), kept = Keep(calls)](const Fragments& answer) {
    return kept == nullptr ? ReadBatchResults(answer, count)
                           : ReadBatchResults(answer, count, kept->asked);
  };
}

CallHandle StartExecute(const std::shared_ptr<Connection>& connection, const Call& call,
                        const CallOptions& options, int tries, Done<ExecuteResult> done) {
  return StartLarge<ExecuteResult>(connection, kExecute, MakeExecuteRequest(call), call.op(),
                                   options, tries, ReaderOf(call), std::move(done));
}

absl::StatusOr<ExecuteResult> ExecuteHere(const std::shared_ptr<Connection>& connection,
                                          const Call& call, const CallOptions& options, int tries) {
  return CallLargeHere<ExecuteResult>(connection, kExecute, MakeExecuteRequest(call), call.op(),
                                      options, tries, ReaderOf(call));
}

// nullptr: there is to be none.
std::shared_ptr<LocalMemory> MakeLocalMemory(const Connection& connection,
                                             const ConnectOptions& options) {
  const char* const wanted = std::getenv("OPSERVE_SHARED_MEMORY");
  if (options.shared_memory_bytes == 0 || !connection.is_local() ||
      (wanted != nullptr && std::string_view(wanted) == "off"))
    return nullptr;
  return std::make_shared<LocalMemory>(options.shared_memory_bytes);
}

absl::Status CheckOptions(const ConnectOptions& options) {
  constexpr int64_t kLeast = 4096;
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  constexpr int kMostTries = 100;
  if (options.max_answer_bytes < kLeast || options.max_answer_bytes > kMost) {
    return InvalidParameter("max_answer_bytes", absl::StrCat(kLeast, " to ", kMost),
                            absl::StrCat(options.max_answer_bytes));
  }
  if (options.shared_memory_bytes < 0)
    return InvalidParameter("shared_memory_bytes", ">= 0",
                            absl::StrCat(options.shared_memory_bytes));
  constexpr int kMostConnections = 64;
  if (options.connections < 1 || options.connections > kMostConnections)
    return InvalidParameter("connections", absl::StrCat("1 to ", kMostConnections),
                            absl::StrCat(options.connections));
  if (options.tries >= 1 && options.tries <= kMostTries) return absl::OkStatus();
  return InvalidParameter("tries", absl::StrCat("1 to ", kMostTries), absl::StrCat(options.tries));
}

}  // namespace

void CallHandle::Cancel() {
  if (running_ != nullptr) running_->Cancel();
}

absl::StatusOr<Client> Client::Connect(std::string_view target, const ConnectOptions& options) {
  OPSERVE_RETURN_IF_ERROR(CheckTarget(target));
  OPSERVE_RETURN_IF_ERROR(CheckOptions(options));
  OPSERVE_RETURN_IF_ERROR(Connection::Check(target, options));
  auto connection = std::make_shared<Connection>(target, options);
  std::shared_ptr<LocalMemory> memory = MakeLocalMemory(*connection, options);
  return Client(std::move(connection), std::move(memory));
}

CallHandle Client::GetServerInfoAsync(const CallOptions& options, Done<ServerInfo> done) const {
  return Start<ServerInfo>(*connection_, kGetServerInfo, {}, options, &ReadServerInfo,
                           std::move(done));
}

CallHandle Client::ListOperatorsAsync(std::span<const std::string> names,
                                      const CallOptions& options,
                                      Done<std::vector<OperatorSchema>> done) const {
  return Start<std::vector<OperatorSchema>>(*connection_, kListOperators,
                                            MakeListOperatorsRequest(names), options,
                                            &ReadOperators, std::move(done));
}

CallHandle Client::ListDevicesAsync(const CallOptions& options,
                                    Done<std::vector<Device>> done) const {
  return Start<std::vector<Device>>(*connection_, kListDevices, {}, options, &ReadDevices,
                                    std::move(done));
}

CallHandle Client::GetWorkspaceSizeAsync(const Call& call, const CallOptions& options,
                                         Done<Plan> done) const {
  const auto read = [asked = AskedOf(call)](const Fragments& answer) {
    return ReadPlan(answer, asked);
  };
  return Start<Plan>(*connection_, kGetWorkspaceSize, MakeGetWorkspaceSizeRequest(call), options,
                     read, std::move(done));
}

CallHandle Client::ExecuteAsync(const Call& call, const CallOptions& options,
                                Done<ExecuteResult> done) const {
  if (memory_ == nullptr || !IsWorthSharing(call))
    return StartExecute(connection_, call, options, 0, std::move(done));
  const absl::Time deadline = Clock::Real().Now() + options.timeout;
  AskForMemory();
  const auto start = [connection = connection_](const Call& started, const CallOptions& with,
                                                int tries, Done<ExecuteResult> then) {
    return StartExecute(connection, started, with, tries, std::move(then));
  };
  return ExecuteShared(memory_, start, *connection_, call, options, deadline, std::move(done));
}

void Client::AskForMemory() const {
  if (!memory_->BeginAsking()) return;
  GetServerInfoAsync({.timeout = kAskForMemory},
                     [memory = memory_](const absl::StatusOr<ServerInfo>& info) {
                       memory->Learn(info, absl::InfiniteFuture());
                     });
}

CallHandle Client::ExecuteBatchAsync(std::span<const Call> calls, const CallOptions& options,
                                     Done<BatchResults> done) const {
  return StartLarge<BatchResults>(connection_, kExecuteBatch, MakeExecuteBatchRequest(calls), "",
                                  options, 0, ReaderOf(calls), std::move(done));
}

CallHandle Client::GetStatisticsAsync(const CallOptions& options, Done<Statistics> done) const {
  return Start<Statistics>(*connection_, kGetStatistics, {}, options, &ReadStatistics,
                           std::move(done));
}

absl::StatusOr<ServerInfo> Client::GetServerInfo(const CallOptions& options) const {
  return CallHere<ServerInfo>(*connection_, kGetServerInfo, {}, options, &ReadServerInfo);
}

absl::StatusOr<std::vector<OperatorSchema>> Client::ListOperators(
    std::span<const std::string> names, const CallOptions& options) const {
  return CallHere<std::vector<OperatorSchema>>(
      *connection_, kListOperators, MakeListOperatorsRequest(names), options, &ReadOperators);
}

absl::StatusOr<std::vector<Device>> Client::ListDevices(const CallOptions& options) const {
  return CallHere<std::vector<Device>>(*connection_, kListDevices, {}, options, &ReadDevices);
}

absl::StatusOr<Plan> Client::GetWorkspaceSize(const Call& call, const CallOptions& options) const {
  const auto read = [asked = AskedOf(call)](const Fragments& answer) {
    return ReadPlan(answer, asked);
  };
  return CallHere<Plan>(*connection_, kGetWorkspaceSize, MakeGetWorkspaceSizeRequest(call), options,
                        read);
}

absl::StatusOr<SharedMemory> Client::CreateSharedMemory(int64_t size_bytes,
                                                        const CallOptions& options) const {
  const absl::Time deadline = Clock::Real().Now() + options.timeout;
  OPSERVE_ASSIGN_OR_RETURN(const ServerInfo info, GetServerInfo(options));
  const std::string& socket = info.shared_memory_socket;
  if (socket.empty()) {
    return MakeError({.reason = ErrorReason::kNoSharedMemory,
                      .op = {},
                      .parameter = "target",
                      .want = "a server with --allow-shared-memory",
                      .got = connection_->target()});
  }
  if (!socket.starts_with('/'))
    return absl::InternalError("the server's answer: shared_memory_socket: want an absolute path");
  return SharedMemory::Create(socket, size_bytes, deadline - Clock::Real().Now());
}

absl::StatusOr<ExecuteResult> Client::Execute(const Call& call, const CallOptions& options) const {
  if (memory_ == nullptr || !IsWorthSharing(call))
    return ExecuteHere(connection_, call, options, 0);
  const absl::Time deadline = Clock::Real().Now() + options.timeout;
  if (memory_->BeginAsking())
    memory_->Learn(GetServerInfo({.timeout = std::min(options.timeout, kAskForMemory)}), deadline);
  absl::StatusOr<ExecuteResult> result = absl::InternalError("no result");
  const auto start = [this](const Call& started, const CallOptions& with, int tries,
                            Done<ExecuteResult> then) {
    then(ExecuteHere(connection_, started, with, tries));
    return CallHandle();  // it is over
  };
  ExecuteShared(memory_, start, *connection_, call, options, deadline,
                [&result](absl::StatusOr<ExecuteResult> ended) { result = std::move(ended); });
  return result;
}

absl::StatusOr<BatchResults> Client::ExecuteBatch(std::span<const Call> calls,
                                                  const CallOptions& options) const {
  return CallLargeHere<BatchResults>(connection_, kExecuteBatch, MakeExecuteBatchRequest(calls), "",
                                     options, 0, ReaderOf(calls));
}

absl::StatusOr<Statistics> Client::GetStatistics(const CallOptions& options) const {
  return CallHere<Statistics>(*connection_, kGetStatistics, {}, options, &ReadStatistics);
}

}  // namespace opserve::client
