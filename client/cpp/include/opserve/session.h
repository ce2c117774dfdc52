// A session: tensors that stay on the server, streams and events, and the two phases apart. Its
// headers need neither gRPC nor protobuf.
//
//   auto session = client.OpenSession();
//   if (!session.ok()) return session.status();
//   Context context = session->CreateContext();
//   Stream stream = context.CreateStream();
//   DeviceTensor self = context.NewTensor(DType::kFloat32, {4, 2});
//   …
//   DeviceTensor gradient = context.NewTensor(DType::kFloat32, {4, 2});
//   RETURN_IF_ERROR(stream.Upload(self, TensorView::Of(values, {4, 2})));
//   Executor executor = context.CreateExecutor(DeviceCall("SmoothL1LossBackward")
//       .Input("self", self)….Output("grad_input", gradient).Attribute("beta", 1.0));
//   stream.Execute(executor);
//   RETURN_IF_ERROR(stream.Synchronize());
//   auto result = stream.Download(gradient);
//
// Only functions that say so wait for the server. Commands are sent in order, and new streams,
// events, buffers and executors can be used at once.
//
// Handles (Context, Stream, Event, DeviceBuffer, Executor) are cheap to copy; copies share the
// object, which is destroyed on the server when the last copy goes. A handle keeps its context.
// When the session ends, however it ends, the server frees everything. All classes are
// thread-safe; what one thread sends is done in the order of its calls.
//
// Errors. A command that fails changes nothing, and the session continues. A function that waits
// for a command returns its failure. Other failures, also to make an object, are returned by the
// next Synchronize of the stream or the context, with the command that failed; commands that use
// such an object fail, too. When the session ends, all waits return its status: UNAVAILABLE (server
// gone), DEADLINE_EXCEEDED, CANCELLED. Later commands fail with that status, or do nothing.
//
// A server that breaks the protocol (an answer without a command, or of the wrong kind, bytes out
// of order) ends the session: every wait returns INTERNAL at once, and says what came. The memory
// is bounded as that of calls: the bytes that are downloaded or asked for,
// ReceiveOptions::max_bytes, and one message as it arrives.
//
// Timeouts and cancellation. A function that returns results sends its timeout to the server, and
// cancels the command when the timeout passes. Stream::WithTimeout sets a timeout for any command,
// CommandHandle::Cancel cancels one. The server checks when the turn of the command comes, and
// between the chunks of its work; the command then fails with DEADLINE_EXCEEDED or CANCELLED, as
// other commands fail. A timeout of Synchronize or of a query ends only the wait itself.
//
// Callbacks run on a thread of the transport, one at a time, or on the calling thread once the
// session is over. No answer of the session is processed until they return, so they must not wait
// for anything of the session. Two may run on another thread, beside others: `released` of
// Stream::UploadAsync, and `done` of ExecuteAsync where the transport still read the inputs when
// the answer came.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <opserve/client.h>
#include <opserve/device_tensor.h>
#include <opserve/session_info.h>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace opserve::client {

class PendingPlan;
class SessionChannel;

struct SessionOptions {
  // The longest life of the session, from now. Without it, waits that have no timeout of their own
  // may never end, because a server need not answer.
  absl::Duration timeout = absl::InfiniteDuration();
  // The longest wait for the first message of the server. After that OpenSession fails with
  // DEADLINE_EXCEEDED.
  absl::Duration start_timeout = absl::InfiniteDuration();
  // W3C Trace Context: which trace the session belongs to, as the server's log and spans then have
  // it (docs/tracing.md): "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01". Anything else
  // is 161002; empty: none.
  std::string traceparent = {};
  // Called once when the server says that it is stopping: it ends the session when nothing is
  // under way any more.
  absl::AnyInvocable<void()> on_draining;
};

// Takes a transfer's bytes in order, piece by piece; a piece may end inside an element. After an
// error it is not called again, and the transfer fails with that error once it has ended.
using BytesSink =
    absl::AnyInvocable<absl::Status(int64_t offset_bytes, std::span<const std::byte> bytes)>;

// Takes an output's bytes as BytesSink does.
using OutputSink = absl::AnyInvocable<absl::Status(
    const PlannedOutput& output, int64_t offset_bytes, std::span<const std::byte> bytes)>;

struct ReceiveOptions {
  absl::Duration timeout = absl::InfiniteDuration();
  // As in Stream::Execute.
  DeviceBuffer workspace;
  int64_t workspace_offset_bytes = 0;
  // Receives the bytes of the outputs. With a sink the tensors of the result have no bytes. Empty:
  // the result has them.
  OutputSink sink;
  // Without a sink: the limit of all outputs together, because the server says how large they are.
  // Larger outputs are RESOURCE_EXHAUSTED.
  int64_t max_bytes = int64_t{4} << 30;
};

// What happens to later commands of a stream after a failure, until Synchronize has returned it.
enum class OnFailure : uint8_t { kStop, kContinue };

enum class ExecutorUse : uint8_t { kOnce, kRepeatable };

// When phase one's answer is wanted. kLater: nobody waits for it before the executor runs, so the
// command may wait a millisecond to go out with those behind it.
enum class PlanWanted : uint8_t { kSoon, kLater };

// A command that was sent. Destroying the handle does not affect the command.
class CommandHandle {
 public:
  CommandHandle() = default;
  CommandHandle(std::shared_ptr<SessionChannel> channel, uint64_t command)
      : channel_(std::move(channel)), command_(command) {}

  // Asks the server to cancel the command. The command then ends with CANCELLED, or still succeeds.
  // Has no effect once the command is over. Does not wait. Any thread, any time.
  void Cancel() const;

 private:
  std::shared_ptr<SessionChannel> channel_;
  uint64_t command_ = 0;
};

// Marks a point on a stream.
class Event {
 public:
  explicit Event(std::shared_ptr<RemoteObject> object) : object_(std::move(object)) {}

  // Whether the latest recording was reached.
  absl::StatusOr<bool> Query(const CallOptions& options = {}) const;
  // Waits until it was reached.
  absl::Status Synchronize(const CallOptions& options = {}) const;
  // From this event to `end`; both must have been reached.
  absl::StatusOr<absl::Duration> TimeUntil(const Event& end, const CallOptions& options = {}) const;

 private:
  friend class Stream;
  std::shared_ptr<RemoteObject> object_;
};

// Phase one's result: a checked call. Keeps its tensors' buffers.
class Executor {
 public:
  Executor(std::shared_ptr<RemoteObject> object, std::shared_ptr<PendingPlan> plan)
      : object_(std::move(object)), plan_(std::move(plan)) {}

  // Waits for phase one's answer; later calls have it.
  absl::StatusOr<ExecutorPlan> plan(const CallOptions& options = {}) const;
  absl::StatusOr<int64_t> workspace_bytes(const CallOptions& options = {}) const;
  // Asks whether phase one succeeded, and waits as plan() does, without keeping the executor or its
  // buffers.
  std::function<absl::Status(const CallOptions&)> Outcome() const;

  // Other buffers and offsets in bytes, by the name of the input or output, for the executions to
  // come of a repeatable executor. Descriptions stay what they were.
  void SetTensors(std::span<const std::pair<std::string, DeviceTensor>> tensors);
  void SetTensor(std::string_view name, const DeviceTensor& tensor);
  // The same, but waits for the server's answer and returns it.
  absl::Status SetTensorsAndWait(std::span<const std::pair<std::string, DeviceTensor>> tensors,
                                 const CallOptions& options = {});

 private:
  friend class Stream;
  std::shared_ptr<RemoteObject> object_;
  std::shared_ptr<PendingPlan> plan_;
};

// A queue of work on a context's device. It runs in order, concurrently with other streams.
//
// Transfers go in chunks, so tensors may be larger than a message. A tensor that is moved must lie
// dense or in evenly spaced rows: all others are refused (161002).
class Stream {
 public:
  explicit Stream(std::shared_ptr<RemoteObject> object) : object_(std::move(object)) {}

  // A handle of the same stream with a timeout. A command that is sent through it fails with
  // DEADLINE_EXCEEDED if its wait and its run at the server take longer than `timeout`; of an
  // upload that holds for each chunk. Record, Synchronize and Query have no such timeout.
  Stream WithTimeout(absl::Duration timeout) const;

  // Writes `from`, dense and of the same dtype and shape, into `to`. Unless `from` has an owner, it
  // waits until its memory is no longer read, even if the session ends meanwhile; it does not wait
  // for the upload itself. Errors: a mistake in the arguments, or the session is over.
  absl::Status Upload(const DeviceTensor& to, const TensorView& from);
  // The same without a wait: `released` is called once when the memory is no longer read.
  absl::Status UploadAsync(const DeviceTensor& to, const TensorView& from,
                           absl::AnyInvocable<void()> released);

  // Reads `from` once what is on the stream has ended.
  absl::StatusOr<Tensor> Download(const DeviceTensor& from, const CallOptions& options = {});
  CommandHandle DownloadAsync(const DeviceTensor& from, Done<Tensor> done);
  // Into memory of exactly that many bytes, dense.
  absl::Status DownloadTo(const DeviceTensor& from, std::span<std::byte> memory,
                          const CallOptions& options = {});
  // The same without a wait: the memory must stay until `done` is called, once.
  CommandHandle DownloadToAsync(const DeviceTensor& from, std::span<std::byte> memory,
                                absl::AnyInvocable<void(absl::Status)> done);
  // Gives the bytes to a callback as they arrive. `sink` is not called after the timeout.
  absl::Status DownloadChunks(const DeviceTensor& from, BytesSink sink,
                              const CallOptions& options = {});

  // Both of the same size in bytes. They must not overlap.
  absl::Status Copy(const DeviceTensor& from, const DeviceTensor& to);
  // Every element becomes `value`; T is the dtype's own type.
  template <typename T>
  absl::Status Fill(const DeviceTensor& to, T value) {
    return FillPattern(to, DTypeOf<T>(), std::as_bytes(std::span<const T>(&value, 1)));
  }

  // The event is reached when all that is on the stream now has ended. May be done again.
  void Record(const Event& event);
  // Later commands run only after the event's latest recording was reached.
  void Wait(const Event& event);

  // Phase two. All outputs of the call must have tensors. Without a workspace the server uses its
  // own.
  CommandHandle Execute(const Executor& executor, const DeviceBuffer& workspace = {},
                        int64_t workspace_offset_bytes = 0);
  // Phase two, and sends all outputs back. Outputs that have tensors must be dense.
  absl::StatusOr<ExecuteResult> ExecuteAndReceive(const Executor& executor,
                                                  ReceiveOptions options = {});

  // Both phases at once in this stream's turn, as Session::Execute.
  absl::StatusOr<ExecuteResult> Execute(const Call& call, const CallOptions& options = {});
  CommandHandle ExecuteAsync(const Call& call, Done<ExecuteResult> done);

  // Waits until everything that is on the stream now has ended. Returns the first failure since the
  // last Synchronize. If the timeout passes first, the next Synchronize returns the failure.
  absl::Status Synchronize(const CallOptions& options = {});
  // The same without a wait: `done` gets what Synchronize returns.
  void SynchronizeAsync(absl::AnyInvocable<void(absl::Status)> done);
  // The first failure that the server has reported by itself and no Synchronize has returned, and
  // forgets it. Sends nothing.
  absl::Status TakeFailure();
  // Whether nothing runs and nothing waits.
  absl::StatusOr<bool> Query(const CallOptions& options = {}) const;

 private:
  absl::Status FillPattern(const DeviceTensor& to, DType dtype, std::span<const std::byte> pattern);

  std::shared_ptr<RemoteObject> object_;
  absl::Duration timeout_ = absl::InfiniteDuration();  // of commands
};

// Owns streams, events, buffers and executors on one device.
class Context {
 public:
  explicit Context(std::shared_ptr<RemoteObject> object) : object_(std::move(object)) {}

  Stream CreateStream(OnFailure on_failure = OnFailure::kStop);
  Event CreateEvent();
  // Contents are undefined.
  DeviceBuffer Allocate(int64_t size_bytes);

  // The same three, but they wait for the server, and return the error if the object could not be
  // made.
  absl::StatusOr<Stream> CreateStreamAndWait(OnFailure on_failure, const CallOptions& options = {});
  absl::StatusOr<Event> CreateEventAndWait(const CallOptions& options = {});
  absl::StatusOr<DeviceBuffer> AllocateAndWait(int64_t size_bytes, const CallOptions& options = {});

  // A dense tensor in a buffer of its own.
  DeviceTensor NewTensor(DType dtype, std::span<const int64_t> shape);
  DeviceTensor NewTensor(DType dtype, std::initializer_list<int64_t> shape) {
    return NewTensor(dtype, std::span<const int64_t>(shape.begin(), shape.size()));
  }

  // Phase one.
  Executor CreateExecutor(const DeviceCall& call, ExecutorUse use = ExecutorUse::kOnce,
                          PlanWanted wanted = PlanWanted::kSoon);

  // Of all streams of the context.
  absl::Status Synchronize(const CallOptions& options = {});
  absl::StatusOr<MemoryState> QueryMemory(const CallOptions& options = {}) const;

 private:
  std::shared_ptr<RemoteObject> object_;
};

// Fills `chunk` with the bytes of an input from `offset_bytes` on; these grow from call to call.
using ChunkSource = std::function<absl::Status(int64_t offset_bytes, std::span<std::byte> chunk)>;

struct ChunkedOptions {
  absl::Duration timeout = absl::InfiniteDuration();
  // For inputs whose view has no storage: where their bytes come from. Called on the thread that
  // makes the call.
  std::vector<std::pair<std::string, ChunkSource>> sources;
  // Where the output goes, when it is not to be gathered: the tensors of the result are then
  // without bytes.
  OutputSink sink;
};

// One RPC and everything that the server keeps for it. Movable. The destructor cancels the rest.
class Session {
 public:
  explicit Session(std::shared_ptr<SessionChannel> channel) : channel_(std::move(channel)) {}
  ~Session();
  Session(Session&&) = default;
  Session& operator=(Session&& other) noexcept;

  const SessionInfo& info() const;
  // Whether the server said that it is stopping.
  bool draining() const;
  // OK while the session goes on; then what it ended with.
  absl::Status status() const;

  // On `device` as Client::ListDevices names it; on the server's first when empty.
  Context CreateContext(std::string_view device = "");

  // Both phases in one command, as Client::Execute but without an RPC of its own, concurrently with
  // everything else: hundreds may run. A call larger than info().max_message_bytes is
  // RESOURCE_EXHAUSTED. Memory of inputs without an owner must stay until the call has ended.
  absl::StatusOr<ExecuteResult> Execute(const Call& call, const CallOptions& options = {});
  CommandHandle ExecuteAsync(const Call& call, Done<ExecuteResult> done);
  // Only the server checks the timeout: `done` may be called later.
  CommandHandle ExecuteAsync(const Call& call, const CallOptions& options,
                             Done<ExecuteResult> done);

  // An element-wise call of any size, computed chunk by chunk as its inputs are sent: neither side
  // holds more than a window of it. Inputs that are dense and have the broadcast shape are sent in
  // chunks, all others whole. A loss must have reduction none. Waits for the result, and for inputs
  // without an owner as Upload does.
  absl::StatusOr<ExecuteResult> ExecuteChunked(const Call& call, ChunkedOptions options = {});

  // Waits until at most `most_bytes` of commands are left that the transport has not taken, or
  // until the session is over: for programs that send faster than the server reads.
  void WaitForTransport(int64_t most_bytes) const;

  // Waits until all commands that were sent have finished, and ends the session. OK if it ended
  // without an error. Commands that are not finished at the deadline are cancelled.
  absl::Status Close(const CallOptions& options = {});
  // Ends the session now. Any thread, any time.
  void Cancel();

 private:
  std::shared_ptr<SessionChannel> channel_;
};

}  // namespace opserve::client
