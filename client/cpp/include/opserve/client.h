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
// operator, parameter, what was wanted and what came. Failures of the way there have no detail:
// UNAVAILABLE (the message names the target), DEADLINE_EXCEEDED, CANCELLED.
//
// Servers that mean harm, or are broken. Nothing that a server sends is taken on trust; an answer
// that is not what the call may have is INTERNAL and says why. A message can be printed: what it
// has of the server is short and without control characters; other texts (schemas, names) are as
// they came. What is in a result is the server's word.
//   Memory: a call takes what its caller asked for (inputs, and outputs of the shapes that the call
//   has), one answer as it comes (ConnectOptions::max_answer_bytes; where several calls are under
//   way, up to twice that for each), and 64 MiB. A server that cuts its answer into frames of a few
//   bytes, or sends frames without an answer as fast as it can, makes the latter two up to four
//   times as large.
//   Time: a call ends at its time-out, but see below for memory that it borrows. Without a time-out
//   it may last for ever.
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
  // Whose certificates servers must show. Empty: of those that the system trusts.
  std::string root_ca = {};
  // What the client shows of itself to a server that wants it (mutual TLS): its certificate, then
  // those that lead to the one the server trusts; and its key. Both or none.
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
  // A bearer token, which says who calls, with each call. Not without TLS, except to a unix socket
  // or this machine. Empty: none.
  std::string token = {};
  // How often a call is tried that no server answers (UNAVAILABLE), or that is refused with word of
  // when there will be room (ErrorDetail::retry_after), 1 to 100, all within the call's timeout.
  // Calls keep nothing on a server, so each may be tried again. Between two tries a call waits as
  // long as the server says, or 100 ms and twice as long each time. Sessions are opened once;
  // ResidentSession opens them anew.
  int tries = 1;
  // Whether calls go to the addresses of the target in turn, to those that can be reached: for
  // "dns:///name:port" where the name has an address for each server, and for
  // "ipv4:10.0.0.1:8500,10.0.0.2:8500". Otherwise all go to the first that can be reached. A
  // session stays with its server.
  bool round_robin = false;
  // How many connections calls may be spread over, 1 to 64: beyond the first they come by
  // themselves while more than four calls are under way on each, and go when they were idle for a
  // minute. The server may allow fewer (--max-connections-per-peer); no call fails for that.
  // Sessions share the first, and with `round_robin` there is one for each address. Whether more
  // than one pays depends on the cores that are idle: measure it (docs/performance.md).
  int connections = 1;
  // How much memory shared with the server Execute and ExecuteAsync may hold, to put tensors of
  // 64 KiB and more there by themselves: where the target is "unix:path" or this machine, the
  // server allows it and this process may open its socket (docs/shared_memory.md). What is not used
  // for ten seconds goes back. 0: none, as with OPSERVE_SHARED_MEMORY=off in the environment.
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

// A running asynchronous call. Dropping it changes nothing for the call.
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

// Called exactly once: on a thread of the transport, or on the calling thread when the call is
// refused before it is sent. It must not block, so it must not make synchronous calls.
template <typename T>
using Done = absl::AnyInvocable<void(absl::StatusOr<T>)>;

// A connection to one server. Cheap to copy (copies share it) and thread-safe: make one and use it
// from everywhere. Calls that run when the last copy goes end as if it were still there.
//
// A call "has ended" when the function returns, or when `done` is called. Until then the memory of
// its inputs must stay valid and unchanged. A call that fails ends only after the transport has let
// go of that memory, which may be later than its deadline while a peer takes no bytes off a full
// connection; inputs with an owner (TensorView::owner) are never waited for.
class Client {
 public:
  // `target`: "host:port", "unix:path" or the name of another of gRPC's resolvers, such as
  // "dns:///host:port". Does not wait for the server and fails only for what is none of these
  // (161002), or for options that cannot be. A server that
  // cannot be reached, or that TLS does not come about with, is UNAVAILABLE at each call, without
  // waiting; it is tried again at least every two seconds.
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

  // Phase one alone: checks the call and tells its workspace and outputs. Sends no data; the views'
  // storage may be empty.
  absl::StatusOr<Plan> GetWorkspaceSize(const Call& call, const CallOptions& options = {}) const;
  CallHandle GetWorkspaceSizeAsync(const Call& call, const CallOptions& options,
                                   Done<Plan> done) const;

  // Both phases. Large inputs go out from the caller's memory without a copy; outputs come back
  // dense, each copied once, into its own aligned memory. There is one at least, and each that the
  // call asks for (OutputDType, Output) is as it asks; for all others, which are there and of what
  // dtype is the server's word: see ExecuteResult::Elements. A request larger than the server takes
  // is RESOURCE_EXHAUSTED, naming `max_message_bytes`; so is one of 4 GiB or more, which gRPC
  // cannot carry.
  // On the server's host large tensors go through shared memory
  // (ConnectOptions::shared_memory_bytes): inputs are copied there, and outputs of a call that is
  // like an earlier one stay there as long as their Tensor does. Whatever is refused goes by bytes.
  // The first such Execute asks the server for it; ExecuteAsync asks meanwhile, and may wait up to
  // 250 ms for new memory of a server that is slow.
  absl::StatusOr<ExecuteResult> Execute(const Call& call, const CallOptions& options = {}) const;
  CallHandle ExecuteAsync(const Call& call, const CallOptions& options,
                          Done<ExecuteResult> done) const;

  // Many calls in one message, each as Execute would run it, with a result or an error of its own:
  // of hundreds of small calls, each costs a fraction of what it costs alone. Large ones run side
  // by side. Fails as a whole, with no results, when the way there fails or the server refuses the
  // batch (161002 naming `calls` for more calls than it takes).
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

  // Opens a session, see <opserve/session.h>. Waits for the server's first word on it.
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
