#include <opserve/session.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cpp/session/chunked_call.h"
#include "client/cpp/session/execute_command.h"
#include "client/cpp/session/session_command.h"
#include "client/cpp/session/transfer.h"
#include "client/cpp/transport/connection.h"
#include "core/base/status_macros.h"

namespace opserve::client {
namespace {

using Kind = RemoteObject::Kind;

// An object in `context`, and the command that makes it.
struct Creation {
  std::shared_ptr<RemoteObject> object;
  Command command;
};

Creation Begin(Kind kind, const std::shared_ptr<RemoteObject>& context, const char* meaning) {
  return {std::make_shared<RemoteObject>(kind, context->shared_channel(), context),
          context->NewCommand(meaning)};
}

Creation NewStream(const std::shared_ptr<RemoteObject>& context, OnFailure on_failure) {
  Creation creation = Begin(Kind::kStream, context, "CreateStream");
  v1::CreateStreamCommand& create = *creation.command.message.mutable_create_stream();
  create.set_stream(creation.object->id());
  create.set_context(context->id());
  create.set_on_failure(on_failure == OnFailure::kStop ? v1::ON_FAILURE_STOP
                                                       : v1::ON_FAILURE_CONTINUE);
  return creation;
}

Creation NewEvent(const std::shared_ptr<RemoteObject>& context) {
  Creation creation = Begin(Kind::kEvent, context, "CreateEvent");
  creation.command.message.mutable_create_event()->set_event(creation.object->id());
  creation.command.message.mutable_create_event()->set_context(context->id());
  return creation;
}

Creation NewBuffer(const std::shared_ptr<RemoteObject>& context, int64_t size_bytes) {
  Creation creation = Begin(Kind::kBuffer, context, "Allocate");
  v1::AllocateCommand& allocate = *creation.command.message.mutable_allocate();
  allocate.set_buffer(creation.object->id());
  allocate.set_context(context->id());
  allocate.set_size_bytes(size_bytes);
  return creation;
}

std::shared_ptr<RemoteObject> Make(Creation creation) {
  creation.object->channel().Send(std::move(creation.command));
  return std::move(creation.object);
}

absl::StatusOr<std::shared_ptr<RemoteObject>> MakeAndWait(Creation creation,
                                                          const CallOptions& options) {
  OPSERVE_RETURN_IF_ERROR(
      SendAndWait<bool>(creation.object->channel(), std::move(creation.command), options,
                        [](const SessionAnswer&) -> absl::StatusOr<bool> { return true; })
          .status());
  return std::move(creation.object);
}

absl::Status WaitForSession(SessionChannel& channel, absl::Duration timeout) {
  absl::Status status = channel.WaitForInfo(channel.Deadline(timeout));
  if (!status.ok()) channel.Cancel();
  return status;
}

}  // namespace

absl::StatusOr<Session> Client::OpenSession() const { return OpenSession(SessionOptions()); }

absl::StatusOr<Session> Client::OpenSession(SessionOptions options) const {
  OPSERVE_RETURN_IF_ERROR(CheckTraceParent(options.traceparent));
  const auto channel = std::make_shared<SessionChannel>(
      connection_->target(),
      RpcOptions{.timeout = options.timeout, .traceparent = std::move(options.traceparent)},
      std::move(options.on_draining));
  channel->Start(*connection_);
  OPSERVE_RETURN_IF_ERROR(WaitForSession(*channel, options.start_timeout));
  return Session(channel);
}

Session::~Session() {
  if (channel_ != nullptr) channel_->Cancel();
}

Session& Session::operator=(Session&& other) noexcept {
  if (this != &other && channel_ != nullptr) channel_->Cancel();
  channel_ = std::move(other.channel_);
  return *this;
}

const SessionInfo& Session::info() const { return channel_->info(); }

bool Session::draining() const { return channel_->draining(); }

absl::Status Session::status() const { return channel_->status(); }

Context Session::CreateContext(std::string_view device) {
  auto object = std::make_shared<RemoteObject>(Kind::kContext, channel_, nullptr);
  Command command = object->NewCommand("CreateContext");
  command.message.mutable_create_context()->set_context(object->id());
  command.message.mutable_create_context()->set_device(device.data(), device.size());
  channel_->Send(std::move(command));
  return Context(std::move(object));
}

absl::StatusOr<ExecuteResult> Session::Execute(const Call& call, const CallOptions& options) {
  return ExecuteAndWait(*channel_, call, {}, options);
}

CommandHandle Session::ExecuteAsync(const Call& call, Done<ExecuteResult> done) {
  return ExecuteAsync(call, CallOptions(), std::move(done));
}

CommandHandle Session::ExecuteAsync(const Call& call, const CallOptions& options,
                                    Done<ExecuteResult> done) {
  return {channel_, SendExecute(*channel_, call, {.timeout = options.timeout}, std::move(done))};
}

absl::StatusOr<ExecuteResult> Session::ExecuteChunked(const Call& call, ChunkedOptions options) {
  return ExecuteInChunks(*channel_, call, std::move(options));
}

void Session::WaitForTransport(int64_t most_bytes) const {
  channel_->WaitForTransport(static_cast<size_t>(most_bytes));
}

absl::Status Session::Close(const CallOptions& options) {
  channel_->HalfClose();
  const std::optional<absl::Status> end = channel_->WaitForEnd(channel_->Deadline(options.timeout));
  if (end.has_value()) return *end;
  channel_->Cancel();
  return channel_->TooLate("the session");
}

void Session::Cancel() { channel_->Cancel(); }

void CommandHandle::Cancel() const {
  if (channel_ != nullptr) channel_->CancelCommand(command_);
}

Stream Context::CreateStream(OnFailure on_failure) {
  return Stream(Make(NewStream(object_, on_failure)));
}

Event Context::CreateEvent() { return Event(Make(NewEvent(object_))); }

DeviceBuffer Context::Allocate(int64_t size_bytes) {
  return DeviceBuffer(Make(NewBuffer(object_, size_bytes)), size_bytes);
}

absl::StatusOr<Stream> Context::CreateStreamAndWait(OnFailure on_failure,
                                                    const CallOptions& options) {
  OPSERVE_ASSIGN_OR_RETURN(std::shared_ptr<RemoteObject> object,
                           MakeAndWait(NewStream(object_, on_failure), options));
  return Stream(std::move(object));
}

absl::StatusOr<Event> Context::CreateEventAndWait(const CallOptions& options) {
  OPSERVE_ASSIGN_OR_RETURN(std::shared_ptr<RemoteObject> object,
                           MakeAndWait(NewEvent(object_), options));
  return Event(std::move(object));
}

absl::StatusOr<DeviceBuffer> Context::AllocateAndWait(int64_t size_bytes,
                                                      const CallOptions& options) {
  OPSERVE_ASSIGN_OR_RETURN(std::shared_ptr<RemoteObject> object,
                           MakeAndWait(NewBuffer(object_, size_bytes), options));
  return DeviceBuffer(std::move(object), size_bytes);
}

DeviceTensor Context::NewTensor(DType dtype, std::span<const int64_t> shape) {
  DeviceTensor tensor = DeviceTensor::Of({}, dtype, shape);
  tensor.buffer = Allocate(CheckDesc(tensor.desc, "").ok() ? tensor.desc.size_bytes() : -1);
  return tensor;
}

absl::Status Context::Synchronize(const CallOptions& options) {
  Command command = object_->NewCommand("Synchronize");
  command.message.mutable_synchronize()->set_context(object_->id());
  return SynchronizeAndWait(object_->shared_channel(), std::move(command), 0, object_->id(),
                            object_->channel().Deadline(options.timeout));
}

absl::StatusOr<MemoryState> Context::QueryMemory(const CallOptions& options) const {
  Command command = object_->NewCommand("QueryMemory");
  command.message.mutable_query_memory()->set_context(object_->id());
  return SendAndWait<MemoryState>(
      object_->channel(), std::move(command), options,
      [](const SessionAnswer& answer) -> absl::StatusOr<MemoryState> {
        const v1::MemoryState& memory = answer.message.memory();
        return MemoryState{memory.limit_bytes(),
                           memory.used_bytes(),
                           memory.peak_bytes(),
                           {memory.device().limit_bytes(), memory.device().used_bytes(),
                            memory.device().cached_bytes()}};
      });
}

absl::StatusOr<bool> Event::Query(const CallOptions& options) const {
  Command command = object_->NewCommand("Query of an event");
  command.message.mutable_query_event()->set_event(object_->id());
  return SendAndWait<bool>(object_->channel(), std::move(command), options,
                           [](const SessionAnswer& answer) -> absl::StatusOr<bool> {
                             return answer.message.event().reached();
                           });
}

absl::Status Event::Synchronize(const CallOptions& options) const {
  Command command = object_->NewCommand("Synchronize of an event");
  command.message.mutable_synchronize()->set_event(object_->id());
  return SendAndWait<bool>(object_->channel(), std::move(command), options,
                           [](const SessionAnswer&) -> absl::StatusOr<bool> { return true; })
      .status();
}

absl::StatusOr<absl::Duration> Event::TimeUntil(const Event& end,
                                                const CallOptions& options) const {
  Command command = object_->NewCommand("QueryElapsedTime");
  command.message.mutable_query_elapsed_time()->set_start(object_->id());
  command.message.mutable_query_elapsed_time()->set_end(end.object_->id());
  return SendAndWait<absl::Duration>(
      object_->channel(), std::move(command), options,
      [](const SessionAnswer& answer) -> absl::StatusOr<absl::Duration> {
        return absl::Nanoseconds(answer.message.elapsed_time().elapsed_ns());
      });
}

}  // namespace opserve::client
