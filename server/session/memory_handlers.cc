// Buffers, and what goes in and out of them.
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/tensor/overlap.h"
#include "server/codec/schema_codec.h"
#include "server/session/handlers.h"
#include "server/session/pump.h"

namespace opserve::server {
namespace {

absl::Status AddBuffer(SessionState& state, const v1::AllocateCommand& command) {
  OPSERVE_RETURN_IF_ERROR(state.CheckHandles("buffer"));
  OPSERVE_ASSIGN_OR_RETURN(std::shared_ptr<Context> * context,
                           state.contexts.Find(command.context()));
  OPSERVE_ASSIGN_OR_RETURN(std::shared_ptr<DeviceBuffer> buffer,
                           (*context)->Allocate(command.size_bytes()));
  state.buffers.Add(command.buffer(), {command.context(), std::move(buffer)});
  return absl::OkStatus();
}

struct StreamAndRange {
  std::shared_ptr<Stream> stream;
  ResolvedRange range;
};

absl::StatusOr<StreamAndRange> Resolve(SessionState& state, uint64_t stream_id,
                                       const v1::BufferRange& range, std::string_view parameter,
                                       int64_t default_row_bytes = 0) {
  OPSERVE_ASSIGN_OR_RETURN(const Owned<Stream>* stream, state.streams.Find(stream_id));
  StreamAndRange resolved{.stream = stream->object, .range = {}};
  OPSERVE_ASSIGN_OR_RETURN(resolved.range,
                           ResolveRange(state, range, parameter, default_row_bytes));
  OPSERVE_RETURN_IF_ERROR(CheckSameContext(resolved.range.context, stream->context, "buffer"));
  return resolved;
}

TensorDesc DescOf(const MemoryRange& range) {
  return {.dtype = DType::kUint8,
          .shape = {range.rows, range.row_bytes},
          .strides = {range.stride_bytes, 1}};
}

bool Overlap(const ResolvedRange& a, const ResolvedRange& b) {
  if (a.buffer != b.buffer || a.memory.size_bytes() == 0) return false;
  const std::byte* start = a.buffer->data();
  return MayOverlap({DescOf(a.memory), a.memory.start - start},
                    {DescOf(b.memory), b.memory.start - start});
}

// In the stream's turn.
void EnqueueTransfer(const std::shared_ptr<Stream>& stream, const Taken& taken,
                     absl::AnyInvocable<absl::Status(const Workers&)> transfer) {
  auto run = [own = std::weak_ptr<Stream>(stream), ticket = taken.ticket,
              transfer = std::move(transfer)]() mutable {
    const std::shared_ptr<Stream> alive = own.lock();
    if (alive == nullptr) return MakeError({.reason = ErrorReason::kCancelled});
    OPSERVE_RETURN_IF_ERROR(ticket->CheckGoesOn());
    const auto stop = [&ticket] { return !ticket->CheckGoesOn().ok(); };
    const Workers workers(alive->workers(), stop);
    absl::Status status = transfer(workers);
    if (status.ok() && workers.stopped()) status = ticket->Stopped();
    return status;
  };
  stream->Enqueue(Stream::Command{
      .id = taken.ticket->id(), .run = std::move(run), .done = FinishWith(taken.ticket)});
}

absl::Status CheckPattern(const std::string& pattern, const MemoryRange& range) {
  const size_t size = pattern.size();
  if (size != 1 && size != 2 && size != 4 && size != 8) {
    return InvalidParameter("pattern", "1, 2, 4 or 8 bytes", absl::StrCat(size));
  }
  if (range.row_bytes % static_cast<int64_t>(size) == 0) return absl::OkStatus();
  return InvalidParameter("destination.row_bytes",
                          absl::StrCat("a multiple of the pattern's ", size),
                          absl::StrCat(range.row_bytes));
}

}  // namespace

absl::AnyInvocable<void(absl::Status)> FinishWith(std::shared_ptr<Ticket> ticket) {
  return [ticket = std::move(ticket)](const absl::Status& status) { ticket->Finish(status); };
}

absl::Status Handle(SessionState& state, const v1::AllocateCommand& command, Taken& taken) {
  OPSERVE_RETURN_IF_ERROR(state.buffers.CheckNew(command.buffer()));
  absl::Status status = AddBuffer(state, command);
  if (!status.ok()) {
    state.buffers.AddFailed(command.buffer(), taken.ticket->id(), status);
    return status;
  }
  taken.ticket->Finish(absl::OkStatus());
  return absl::OkStatus();
}

absl::Status Handle(SessionState& state, const v1::FreeCommand& command, Taken& taken) {
  OPSERVE_RETURN_IF_ERROR(state.buffers.Erase(command.buffer()));
  taken.ticket->Finish(absl::OkStatus());
  return absl::OkStatus();
}

absl::Status Handle(SessionState& state, const v1::QueryMemoryCommand& command, Taken& taken) {
  OPSERVE_ASSIGN_OR_RETURN(std::shared_ptr<Context> * context,
                           state.contexts.Find(command.context()));
  const MemoryBudget::Stats stats = state.budget->stats();
  Answer answer;
  v1::MemoryState& memory = *answer.header.mutable_memory();
  memory.set_limit_bytes(stats.limit_bytes);
  memory.set_used_bytes(stats.used_bytes);
  memory.set_peak_bytes(stats.peak_bytes);
  *memory.mutable_device() = EncodeMemory((*context)->device().memory().stats());
  taken.ticket->Finish(absl::OkStatus(), std::move(answer));
  return absl::OkStatus();
}

absl::Status Handle(SessionState& state, const v1::UploadCommand& command, Taken& taken) {
  OPSERVE_ASSIGN_OR_RETURN(Fragments bytes, RawEntry(taken.command, command.raw_index()));
  const auto size = static_cast<int64_t>(bytes.size_bytes());
  OPSERVE_ASSIGN_OR_RETURN(StreamAndRange to, Resolve(state, command.stream(),
                                                      command.destination(), "destination", size));
  if (to.range.memory.size_bytes() != size) {
    return InvalidParameter("raw",
                            absl::StrCat("the range's ", to.range.memory.size_bytes(), " bytes"),
                            absl::StrCat(size));
  }
  EnqueueTransfer(to.stream, taken,
                  [range = to.range, bytes = std::move(bytes),
                   owner = taken.command.owner](const Workers& workers) {
                    return range.buffer->device().Upload(range.memory, bytes, workers);
                  });
  return absl::OkStatus();
}

absl::Status Handle(SessionState& state, const v1::DownloadCommand& command, Taken& taken) {
  OPSERVE_ASSIGN_OR_RETURN(const int64_t chunk_bytes,
                           ResolveChunkBytes(state.limits, command.chunk_bytes()));
  OPSERVE_ASSIGN_OR_RETURN(const StreamAndRange source,
                           Resolve(state, command.stream(), command.source(), "source"));
  const bool detached = command.detached();
  auto start = [range = source.range, chunk_bytes, detached, staging = state.staging,
                ticket = taken.ticket](absl::AnyInvocable<void(absl::Status)> finished) {
    absl::Status status = ticket->CheckGoesOn();
    if (!status.ok()) return finished(std::move(status));
    std::vector<Pump::Source> sources = {{"", range.memory, range.buffer}};
    if (detached) {
      finished(absl::OkStatus());
      finished = FinishWith(ticket);
    }
    Pump::Start(range.buffer->device(), staging, ticket, std::move(sources), chunk_bytes,
                std::move(finished));
  };
  // A detached one ends with its last chunk, not with its turn.
  auto done = [ticket = taken.ticket, detached](const absl::Status& status) {
    if (!detached || !status.ok()) ticket->Finish(status);
  };
  source.stream->Enqueue(Stream::AsyncCommand{
      .id = taken.ticket->id(), .start = std::move(start), .done = std::move(done)});
  return absl::OkStatus();
}

absl::Status Handle(SessionState& state, const v1::CopyCommand& command, Taken& taken) {
  OPSERVE_ASSIGN_OR_RETURN(const StreamAndRange source,
                           Resolve(state, command.stream(), command.source(), "source"));
  OPSERVE_ASSIGN_OR_RETURN(const StreamAndRange to,
                           Resolve(state, command.stream(), command.destination(), "destination"));
  const int64_t bytes = source.range.memory.size_bytes();
  if (to.range.memory.size_bytes() != bytes) {
    return InvalidParameter("destination", absl::StrCat("the ", bytes, " bytes of source"),
                            absl::StrCat(to.range.memory.size_bytes()));
  }
  if (Overlap(source.range, to.range))
    return InvalidParameter("destination", "a range that source does not overlap",
                            "one that it does");
  EnqueueTransfer(source.stream, taken,
                  [from = source.range, to = to.range](const Workers& workers) {
                    return to.buffer->device().Copy(from.memory, to.memory, workers);
                  });
  return absl::OkStatus();
}

absl::Status Handle(SessionState& state, const v1::FillCommand& command, Taken& taken) {
  OPSERVE_ASSIGN_OR_RETURN(const StreamAndRange to,
                           Resolve(state, command.stream(), command.destination(), "destination"));
  OPSERVE_RETURN_IF_ERROR(CheckPattern(command.pattern(), to.range.memory));
  EnqueueTransfer(to.stream, taken,
                  [range = to.range, pattern = command.pattern()](const Workers& workers) {
                    return range.buffer->device().Fill(range.memory,
                                                       std::as_bytes(std::span(pattern)), workers);
                  });
  return absl::OkStatus();
}

}  // namespace opserve::server
