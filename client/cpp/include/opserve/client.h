// A client of an opserve server. Its headers need neither gRPC nor protobuf.
//
//   auto client = opserve::client::Client::Connect("localhost:8500");
//   if (!client.ok()) return client.status();
//   const std::vector<float> ones(8, 1.0f);
//   const std::vector<float> self = {0, 1, 2, 3, 4, 5, 6, 7};
//   Call call("SmoothL1LossBackward");
//   call.Input("grad_out", TensorView::Of(ones, {4, 2}))
//       .Input("self", TensorView::Of(self, {4, 2}))
//       .Input("target", TensorView::Of(ones, {4, 2}))
//       .Attribute("reduction", 0)
//       .Attribute("beta", 1.0);
//   absl::StatusOr<ExecuteResult> result = client->Execute(call, {.timeout = absl::Seconds(5)});
//   if (!result.ok()) return result.status();
//   absl::StatusOr<std::span<const float>> gradient = result->Elements<float>("grad_input");
//   if (!gradient.ok()) return gradient.status();  // the server sent none, or one of another dtype
//
// Errors. Every failure is an absl::Status with the server's code and message.
// opserve::GetErrorDetail(status) (core/base/op_error.h) gives its parts: reason, aclnn code,
// operator, parameter, what was wanted and what came. Failures of the connection have no detail:
// UNAVAILABLE (the message names the target), DEADLINE_EXCEEDED, CANCELLED.
//
// Malicious or broken servers. The client checks everything that a server sends. A wrong answer is
// INTERNAL, and the message says why. Messages are safe to print: text of the server in them is
// short and without control characters. Other texts (schemas, names) are as the server sent them.
// The values of a result cannot be checked.
//
//   Memory: a call takes the memory of its inputs and outputs, of one answer as it arrives
//   (ConnectOptions::max_answer_bytes, or up to twice that for each call while several run), and
//   64 MiB. A server that splits its answer into frames of a few bytes, or sends empty frames as
//   fast as it can, can make the latter two up to four times as large.
//   Time: a call ends at its timeout, but see below for memory that it borrows. Without a timeout
//   it may never end.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <opserve/call.h>
#include <opserve/schema.h>
#include <opserve/statistics.h>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace opserve::client {

class Connection;
class LocalMemory;
class RunningCall;
class Session;
class SharedMemory;
struct SessionOptions;

// An encrypted connection. All texts are PEM.
struct TlsOptions {
  // The CAs that must have signed a server's certificate. Empty: those that the system trusts.
  std::string root_ca = {};
  // The client's own certificate, for servers that ask for it (mutual TLS), followed by its
  // intermediate certificates; and its key. Both or none.
  std::string certificate = {};
  std::string key = {};
  // The name that the server's certificate must have. Empty: the target's host.
  std::string server_name = {};
};

struct ConnectOptions {
  // The largest answer that is taken, of 4 KiB to 2 GiB - 1. One that is larger ends its call with
  // RESOURCE_EXHAUSTED. The default is that of servers (--max-message-bytes).
  int64_t max_answer_bytes = int64_t{256} << 20;
  // None: the connection is not encrypted.
  std::optional<TlsOptions> tls = {};
  // A bearer token that is sent with each call, and says who calls. It needs TLS, except to a unix
  // socket or to this machine. Empty: none.
  std::string token = {};
  // How often a call is tried, 1 to 100, within its timeout: again if no server answers
  // (UNAVAILABLE), or if it is refused with a time to try again (ErrorDetail::retry_after). Calls
  // leave nothing on a server, so this is safe. Between two tries a call waits as long as the
  // server says, or 100 ms and twice as long each time. Sessions are opened once; ResidentSession
  // opens them again.
  int tries = 1;
  // Whether calls go to the addresses of the target in turn, to those that can be reached: for
  // "dns:///name:port" where the name has an address for each server, and for
  // "ipv4:10.0.0.1:8500,10.0.0.2:8500". Otherwise all go to the first that can be reached. A
  // session stays with its server.
  bool round_robin = false;
  // The maximum number of connections for calls, 1 to 64. A further connection opens while more
  // than four calls run on each one, and closes after it was idle for a minute. The server may
  // allow fewer (--max-connections-per-peer); no call fails for that: one that a further connection
  // loses (UNAVAILABLE) is tried again, also where `tries` is 1. Sessions share the first
  // connection; with `round_robin` there is one for each address. Whether several connections
  // are faster depends on the idle cores: measure it (docs/performance.md).
  int connections = 1;
  // The most memory that Execute and ExecuteAsync share with the server, for tensors of 64 KiB and
  // more. They use it if the target is "unix:path" or this machine, the server allows it, and this
  // process may open its socket (docs/shared_memory.md). Memory that is unused for ten seconds is
  // returned. 0: none, as with OPSERVE_SHARED_MEMORY=off in the environment.
  int64_t shared_memory_bytes = int64_t{1} << 30;
};

struct CallOptions {
  // From now until the call must have ended; past it the call fails with DEADLINE_EXCEEDED.
  absl::Duration timeout = absl::InfiniteDuration();
  // W3C Trace Context: which trace the call belongs to, as the server's log and spans then have it
  // (docs/tracing.md): "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01". Anything else is
  // 161002; empty: none.
  std::string traceparent = {};
};

// A running asynchronous call. Destroying the handle does not affect the call.
class CallHandle {
 public:
  CallHandle() = default;
  explicit CallHandle(std::shared_ptr<RunningCall> running) : running_(std::move(running)) {}

  // Asks the call to end with CANCELLED; it may still succeed if its answer is under way. Any
  // thread, any time.
  void Cancel();

 private:
  std::shared_ptr<RunningCall> running_;
};

// Called exactly once: on a thread of the transport, or on the calling thread if the call fails
// before it is sent. It must not block, and so must not make synchronous calls.
template <typename T>
using Done = absl::AnyInvocable<void(absl::StatusOr<T>)>;

// A connection to one server. Thread-safe, and cheap to copy as copies share it: make one and use
// it everywhere. Calls that run when the last copy is destroyed continue to their end.
//
// A call "has ended" when the function returns, or when `done` is called. Until then the memory of
// its inputs must stay valid and unchanged. A call that fails ends only once the transport no
// longer reads that memory. That may be after its deadline if the peer reads nothing from a full
// connection. A call never waits so for inputs with an owner (TensorView::owner).
class Client {
 public:
  // `target`: "host:port", "unix:path" or the name of another of gRPC's resolvers, such as
  // "dns:///host:port". Does not wait for the server, and fails only for a target of another form
  // (161002) or for invalid options. If the server cannot be reached, or the TLS
  // handshake fails, each call fails with UNAVAILABLE at once; the connection is tried again at
  // least every two seconds.
  static absl::StatusOr<Client> Connect(std::string_view target,
                                        const ConnectOptions& options = {});

  // Version and limits.
  absl::StatusOr<ServerInfo> GetServerInfo(const CallOptions& options = {}) const;
  CallHandle GetServerInfoAsync(const CallOptions& options, Done<ServerInfo> done) const;

  // Schemas of the operators called `names`, of all when it is empty. NOT_FOUND for a name that
  // does not exist.
  absl::StatusOr<std::vector<OperatorSchema>> ListOperators(std::span<const std::string> names = {},
                                                            const CallOptions& options = {}) const;
  CallHandle ListOperatorsAsync(std::span<const std::string> names, const CallOptions& options,
                                Done<std::vector<OperatorSchema>> done) const;

  // The server's devices; the first is the default.
  absl::StatusOr<std::vector<Device>> ListDevices(const CallOptions& options = {}) const;
  CallHandle ListDevicesAsync(const CallOptions& options, Done<std::vector<Device>> done) const;

  // Phase one alone: checks the call, and returns its workspace and outputs. Sends no data, so the
  // storage of the views may be empty.
  absl::StatusOr<Plan> GetWorkspaceSize(const Call& call, const CallOptions& options = {}) const;
  CallHandle GetWorkspaceSizeAsync(const Call& call, const CallOptions& options,
                                   Done<Plan> done) const;

  // Both phases. Large inputs are sent from the caller's memory without a copy. Outputs are dense,
  // and each is copied once, into its own aligned memory. A result has at least one output. Outputs
  // that the call asks for (OutputDType, Output) are checked; the names and dtypes of others are as
  // the server says: see ExecuteResult::Elements. A request that is too large for the server is
  // RESOURCE_EXHAUSTED, naming `max_message_bytes`; so is one of 4 GiB or more, the limit of gRPC.
  //
  // On the server's host large tensors use shared memory (ConnectOptions::shared_memory_bytes):
  // inputs are copied into it, and outputs of a call like an earlier one stay in it as long as
  // their Tensor exists. If the server refuses the memory, the tensors are sent as bytes. The first
  // such Execute asks the server for the memory. ExecuteAsync asks in the background, and may wait
  // up to half a second for new memory if the server is slow.
  absl::StatusOr<ExecuteResult> Execute(const Call& call, const CallOptions& options = {}) const;
  CallHandle ExecuteAsync(const Call& call, const CallOptions& options,
                          Done<ExecuteResult> done) const;

  // Many calls in one message. Each has its own result or error, as with Execute. With hundreds of
  // small calls, each costs a fraction of a single call. Large calls run concurrently. The whole
  // batch fails, without results, if the connection fails or the server refuses the batch (161002
  // naming `calls` for too many calls).
  absl::StatusOr<BatchResults> ExecuteBatch(std::span<const Call> calls,
                                            const CallOptions& options = {}) const;
  CallHandle ExecuteBatchAsync(std::span<const Call> calls, const CallOptions& options,
                               Done<BatchResults> done) const;

  // Memory shared with the server, which must run on this host and allow it
  // (SHARED_MEMORY_DISABLED otherwise). See <opserve/shared_memory.h>.
  absl::StatusOr<SharedMemory> CreateSharedMemory(int64_t size_bytes,
                                                  const CallOptions& options = {}) const;

  // What the server has counted since it started.
  absl::StatusOr<Statistics> GetStatistics(const CallOptions& options = {}) const;
  CallHandle GetStatisticsAsync(const CallOptions& options, Done<Statistics> done) const;

  // Opens a session, see <opserve/session.h>. Waits for the first message of the server.
  absl::StatusOr<Session> OpenSession() const;
  absl::StatusOr<Session> OpenSession(SessionOptions options) const;

 private:
  Client(std::shared_ptr<Connection> connection, std::shared_ptr<LocalMemory> memory)
      : connection_(std::move(connection)), memory_(std::move(memory)) {}

  void AskForMemory() const;

  std::shared_ptr<Connection> connection_;
  std::shared_ptr<LocalMemory> memory_;  // null: tensors are not put there by themselves
};

}  // namespace opserve::client
