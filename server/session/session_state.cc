#include "server/session/session_state.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve::server {
namespace {

constexpr int64_t kSmallHeader = 1024;
constexpr int64_t kSpacePerByte = 6;

// What a command takes while it waits, besides its message.
constexpr int64_t kCommandBytes = 512;
// What an object takes, whatever it is, and how many are paid for at a time.
constexpr int64_t kHandleBytes = 1024;
constexpr size_t kHandlesAtOnce = 16;

// Bytes from the start of a range to its end; nullopt when they do not fit.
std::optional<int64_t> ReachOf(const MemoryRange& range) {
  int64_t reach = 0;
  if (__builtin_mul_overflow(range.rows - 1, range.stride_bytes, &reach) ||
      __builtin_add_overflow(reach, range.row_bytes, &reach)) {
    return std::nullopt;
  }
  return reach;
}

absl::Status CheckNumbers(const MemoryRange& range, int64_t offset_bytes,
                          const std::string& parameter) {
  const auto check = [&](const char* field, int64_t value, int64_t least) {
    if (value >= least) return absl::OkStatus();
    return OutOfRange(parameter + field, absl::StrCat(">= ", least), absl::StrCat(value));
  };
  OPSERVE_RETURN_IF_ERROR(check(".offset_bytes", offset_bytes, 0));
  OPSERVE_RETURN_IF_ERROR(check(".row_bytes", range.row_bytes, 0));
  OPSERVE_RETURN_IF_ERROR(check(".rows", range.rows, 0));
  if (range.rows <= 1) return absl::OkStatus();
  return check(".stride_bytes", range.stride_bytes, range.row_bytes);
}

}  // namespace

int64_t Command::held_bytes() const {
  // Exact counting takes longer than most commands; objects are about so much larger than bytes.
  const auto header_bytes = static_cast<int64_t>(header.ByteSizeLong());
  int64_t bytes = header_bytes <= kSmallHeader ? kSpacePerByte * header_bytes
                                               : static_cast<int64_t>(header.SpaceUsedLong());
  for (const Fragments& entry : raw) bytes += static_cast<int64_t>(entry.size_bytes());
  return kCommandBytes + bytes + spare_bytes;
}

SessionState::SessionState(Engine& the_engine, PlanCache& the_plans, OpenStreams& the_open_streams,
                           const Clock& the_clock, const SessionLimits& the_limits,
                           std::shared_ptr<Flow> the_flow)
    : engine(the_engine),
      plans(the_plans),
      open_streams(the_open_streams),
      clock(the_clock),
      limits(the_limits),
      flow(std::move(the_flow)),
      memory(flow->memory()),
      client(memory->client()),
      budget(std::make_shared<MemoryBudget>(limits.memory_limit_bytes)),
      staging(memory->staging()) {}

absl::Status SessionState::CheckHandles(std::string_view kind) {
  const size_t handles = contexts.size() + streams.size() + events.size() + buffers.size() +
                         executors.size() + chunked_calls.size();
  if (handles < static_cast<size_t>(limits.max_handles)) {
    if (handles < paid_handles_) return absl::OkStatus();
    OPSERVE_RETURN_IF_ERROR(memory->Take(kHandleBytes * kHandlesAtOnce, kind));
    paid_handles_ += kHandlesAtOnce;
    return absl::OkStatus();
  }
  return MakeError({.reason = ErrorReason::kResourceLimit,
                    .op = {},
                    .parameter = std::string(kind),
                    .want = absl::StrCat("at most ", limits.max_handles, " handles in the session"),
                    .got = "one more"});
}

absl::StatusOr<HostShare> SessionState::TakeMemoryFor(const Plan& plan, std::string_view kind) {
  const int64_t bytes = HostBytes(plan);
  OPSERVE_RETURN_IF_ERROR(memory->Take(bytes, kind));
  return HostShare(memory, bytes);
}

absl::Status SessionState::EraseContext(uint64_t context) {
  const absl::StatusOr<std::shared_ptr<Context>*> found = contexts.Find(context);
  // Work that waits holds on to its context: it must be dropped first.
  if (found.ok()) (**found)->Abandon();
  OPSERVE_RETURN_IF_ERROR(contexts.Erase(context));
  const auto owned = [context](const auto& entry) { return entry.context == context; };
  executors.EraseIf(owned);
  buffers.EraseIf(owned);
  events.EraseIf(owned);
  streams.EraseIf(owned);
  return absl::OkStatus();
}

void SessionState::Abandon() {
  chunked_calls.ForEach([](const std::shared_ptr<ChunkedCall>& call) { call->Abandon(); });
  contexts.ForEach([](const std::shared_ptr<Context>& context) { context->Abandon(); });
}

void SessionState::Clear() {
  Abandon();
  chunked_calls.Clear();
  executors.Clear();
  buffers.Clear();
  events.Clear();
  streams.Clear();
  contexts.Clear();
}

absl::StatusOr<Fragments> RawEntry(const Command& command, uint32_t raw_index) {
  if (raw_index >= command.raw.size()) {
    return OutOfRange("raw_index", "the index of a raw entry of the message",
                      absl::StrCat(raw_index));
  }
  if (command.raw.size() == 1) return command.raw[raw_index];
  return InvalidParameter("raw", "one entry", absl::StrCat(command.raw.size()));
}

absl::StatusOr<ResolvedRange> ResolveRange(SessionState& state, const v1::BufferRange& range,
                                           std::string_view parameter, int64_t default_row_bytes) {
  OPSERVE_ASSIGN_OR_RETURN(const Owned<DeviceBuffer>* buffer, state.buffers.Find(range.buffer()));
  MemoryRange memory{.start = buffer->object->data(),
                     .row_bytes = range.row_bytes(),
                     .rows = range.rows() == 0 ? 1 : range.rows(),
                     .stride_bytes = range.stride_bytes()};
  OPSERVE_RETURN_IF_ERROR(CheckNumbers(memory, range.offset_bytes(), std::string(parameter)));
  if (memory.row_bytes == 0 && memory.rows == 1) memory.row_bytes = default_row_bytes;
  if (memory.rows == 1) memory.stride_bytes = memory.row_bytes;
  const int64_t room = buffer->object->size_bytes() - range.offset_bytes();
  const std::optional<int64_t> reach = ReachOf(memory);
  if (room < 0 || !reach.has_value() || *reach > room) {
    return OutOfRange(
        parameter, absl::StrCat("a range inside its ", buffer->object->size_bytes(), " bytes"),
        absl::StrCat(memory.rows, " rows of ", memory.row_bytes, " bytes, ", memory.stride_bytes,
                     " apart, from ", range.offset_bytes(), " on"));
  }
  if (memory.start != nullptr) memory.start += range.offset_bytes();
  return ResolvedRange{buffer->context, buffer->object, memory};
}

absl::Status CheckSameContext(uint64_t context, uint64_t stream_context,
                              std::string_view parameter) {
  if (context == stream_context) return absl::OkStatus();
  return InvalidParameter(
      parameter, absl::StrCat("one of context ", stream_context, ", which the stream is of"),
      absl::StrCat("one of context ", context));
}

absl::StatusOr<int64_t> ResolveChunkBytes(const SessionLimits& limits, int64_t chunk_bytes) {
  if (chunk_bytes == 0) return limits.chunk_bytes;
  // Room for the rest of the message.
  const int64_t most = std::min(limits.window_bytes, limits.max_message_bytes - 4096);
  if (chunk_bytes > 0 && chunk_bytes <= most) return chunk_bytes;
  return OutOfRange("chunk_bytes", absl::StrCat("0 to ", most), absl::StrCat(chunk_bytes));
}

}  // namespace opserve::server
