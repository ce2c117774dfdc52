#include "client/acl/remote/remote_device.h"

#include <algorithm>

#include "client/acl/remote/remote_event.h"
#include "client/acl/remote/remote_memory.h"
#include "client/acl/remote/remote_plan.h"
#include "client/acl/remote/remote_stream.h"
#include "core/base/status_macros.h"

namespace opserve::acl {
absl::StatusOr<std::unique_ptr<RemoteDevice>> RemoteDevice::Open(ServerSession& session,
                                                                 const std::string& name,
                                                                 absl::Time deadline) {
  client::Context context = session.session().CreateContext(name);
  OPSERVE_ASSIGN_OR_RETURN(client::DeviceBuffer nothing,
                           context.AllocateAndWait(0, {.timeout = Until(deadline)}));
  OPSERVE_ASSIGN_OR_RETURN(
      client::Stream transfers,
      context.CreateStreamAndWait(client::OnFailure::kContinue, {.timeout = Until(deadline)}));
  OPSERVE_ASSIGN_OR_RETURN(client::Event end,
                           context.CreateEventAndWait({.timeout = Until(deadline)}));
  return std::make_unique<RemoteDevice>(session, std::move(context), std::move(nothing),
                                        std::move(transfers), std::move(end));
}

absl::StatusOr<std::shared_ptr<ProvidedMemory>> RemoteDevice::Allocate(int64_t bytes) {
  OPSERVE_RETURN_IF_ERROR(session_.CheckAlive());
  OPSERVE_ASSIGN_OR_RETURN(std::unique_ptr<ReservedRange> addresses, ReservedRange::Reserve(bytes));
  absl::StatusOr<client::DeviceBuffer> buffer = context_.AllocateAndWait(bytes);
  if (!buffer.ok()) return session_.Told(buffer.status());
  return std::make_shared<RemoteMemory>(std::move(addresses), *std::move(buffer));
}

absl::StatusOr<MemoryState> RemoteDevice::QueryMemory() {
  OPSERVE_RETURN_IF_ERROR(session_.CheckAlive());
  const absl::StatusOr<client::MemoryState> state = context_.QueryMemory();
  if (!state.ok()) return session_.Told(state.status());
  const int64_t free_bytes = std::min(state->limit_bytes - state->used_bytes,
                                      state->device.limit_bytes - state->device.used_bytes);
  return MemoryState{.free_bytes = std::max<int64_t>(0, free_bytes),
                     .total_bytes = std::min(state->limit_bytes, state->device.limit_bytes)};
}

absl::Status RemoteDevice::Upload(const MemoryView& to, std::span<const std::byte> from) {
  return transfers_.Upload(to, from);
}

absl::Status RemoteDevice::Download(const MemoryView& from, std::span<std::byte> to) {
  return transfers_.Download(from, to);
}

absl::Status RemoteDevice::Copy(const MemoryView& from, const MemoryView& to, int64_t bytes) {
  return transfers_.Copy(from, to, bytes);
}

absl::Status RemoteDevice::Fill(const MemoryView& to, std::byte value, int64_t bytes) {
  return transfers_.Fill(to, value, bytes);
}

absl::StatusOr<std::shared_ptr<ProvidedStream>> RemoteDevice::CreateStream() {
  OPSERVE_RETURN_IF_ERROR(session_.CheckAlive());
  absl::StatusOr<client::Stream> stream =
      context_.CreateStreamAndWait(client::OnFailure::kContinue);
  if (!stream.ok()) return session_.Told(stream.status());
  return std::make_shared<RemoteStream>(session_, transfers_, *std::move(stream));
}

absl::StatusOr<std::shared_ptr<ProvidedEvent>> RemoteDevice::CreateEvent() {
  OPSERVE_RETURN_IF_ERROR(session_.CheckAlive());
  absl::StatusOr<client::Event> event = context_.CreateEventAndWait();
  if (!event.ok()) return session_.Told(event.status());
  return std::make_shared<RemoteEvent>(session_, *std::move(event));
}

absl::StatusOr<std::shared_ptr<ProvidedPlan>> RemoteDevice::MakePlan(const OperatorCall& call) {
  return MakeRemotePlan(session_, context_, nothing_, call, known_plans_);
}

}  // namespace opserve::acl
