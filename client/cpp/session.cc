#include "client/cpp/session.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cpp/chunked_call.h"
#include "client/cpp/connection.h"
#include "client/cpp/inline_call.h"
#include "client/cpp/session_command.h"
#include "client/cpp/transfer.h"
#include "core/base/status_macros.h"

namespace opserve::client {
namespace {

using Kind = RemoteObject::Kind;

// An object in `context`, to be made by a command that `fill` completes.
template <typename Fill>
std::shared_ptr<RemoteObject> Create(Kind kind, const std::shared_ptr<RemoteObject>& context,
                                     const char* meaning, Fill fill) {
  auto object = std::make_shared<RemoteObject>(kind, context->shared_channel(), context);
  Command command = context->NewCommand(meaning);
  fill(command.message, object->id());
  object->channel().Send(std::move(command));
  return object;
}

absl::Status WaitForSession(SessionChannel& channel) {
  absl::Status status = channel.WaitForInfo(channel.Deadline(absl::InfiniteDuration()));
  if (!status.ok()) channel.Cancel();
  return status;
}

}  // namespace

absl::StatusOr<Session> Client::OpenSession() const { return OpenSession(SessionOptions()); }

absl::StatusOr<Session> Client::OpenSession(SessionOptions options) const {
  const auto channel = std::make_shared<SessionChannel>(connection_->target(), options.timeout,
                                                        std::move(options.on_draining));
  channel->Start(*connection_);
  OPSERVE_RETURN_IF_ERROR(WaitForSession(*channel));
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
  return ExecuteInlineAndWait(*channel_, call, 0, options);
}

void Session::ExecuteAsync(const Call& call, Done<ExecuteResult> done) {
  ExecuteInline(*channel_, call, 0, std::move(done));
}

absl::StatusOr<ExecuteResult> Session::ExecuteChunked(const Call& call, ChunkedOptions options) {
  return ExecuteInChunks(*channel_, call, std::move(options));
}

absl::Status Session::Close(const CallOptions& options) {
  channel_->HalfClose();
  const std::optional<absl::Status> end = channel_->WaitForEnd(channel_->Deadline(options.timeout));
  if (end.has_value()) return *end;
  channel_->Cancel();
  return channel_->TooLate("the session");
}

void Session::Cancel() { channel_->Cancel(); }

Stream Context::CreateStream(OnFailure on_failure) {
  return Stream(
      Create(Kind::kStream, object_, "CreateStream", [&](v1::SessionRequest& request, uint64_t id) {
        v1::CreateStream& create = *request.mutable_create_stream();
        create.set_stream(id);
        create.set_context(object_->id());
        create.set_on_failure(on_failure == OnFailure::kStop ? v1::ON_FAILURE_STOP
                                                             : v1::ON_FAILURE_CONTINUE);
      }));
}

Event Context::CreateEvent() {
  return Event(
      Create(Kind::kEvent, object_, "CreateEvent", [&](v1::SessionRequest& request, uint64_t id) {
        request.mutable_create_event()->set_event(id);
        request.mutable_create_event()->set_context(object_->id());
      }));
}

DeviceBuffer Context::Allocate(int64_t size_bytes) {
  return DeviceBuffer(Create(Kind::kBuffer, object_, "Allocate",
                             [&](v1::SessionRequest& request, uint64_t id) {
                               request.mutable_allocate()->set_buffer(id);
                               request.mutable_allocate()->set_context(object_->id());
                               request.mutable_allocate()->set_size_bytes(size_bytes);
                             }),
                      size_bytes);
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
        return absl::Seconds(answer.message.elapsed_time().seconds());
      });
}

}  // namespace opserve::client
