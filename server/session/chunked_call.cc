#include "server/session/chunked_call.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/engine/run/piecewise.h"

namespace opserve::server {
namespace {

// A smaller chunk is copied: its message would take many times as much memory.
constexpr size_t kSmallChunkBytes = 4 << 10;
constexpr size_t kBlockBytes = 64 << 10;

// A chunk whose fragments have fewer bytes on average is copied: pieces hold lists of them.
constexpr size_t kFragmentBytes = 1 << 10;

// What a piece that waits takes besides its bytes.
constexpr int64_t kPieceBytes = 1024;

OwnedBytes InFewFragments(OwnedBytes chunk) {
  const size_t size = chunk.bytes.size_bytes();
  if (chunk.bytes.pieces().size() <= 1 + size / kFragmentBytes) return chunk;
  const std::shared_ptr<std::byte[]> block(new std::byte[size]);
  chunk.bytes.CopyTo(block.get(), 0, size);
  return {Fragments({block.get(), size}), block};
}

// Cuts the first `count` bytes off `from`.
Fragments TakeFront(std::deque<OwnedBytes>& from, size_t count,
                    std::vector<std::shared_ptr<const void>>& owners) {
  Fragments taken;
  while (count > 0) {
    OwnedBytes& front = from.front();
    Fragments rest;
    owners.push_back(front.owner);
    for (const std::span<const std::byte> piece : front.bytes.pieces()) {
      const size_t used = std::min(count, piece.size());
      taken.Append(piece.first(used));
      rest.Append(piece.subspan(used));
      count -= used;
    }
    if (rest.size_bytes() == 0) {
      from.pop_front();
    } else {
      front.bytes = std::move(rest);
    }
  }
  return taken;
}

}  // namespace

void ChunkedCall::Input::Append(OwnedBytes bytes) {
  const size_t size = bytes.bytes.size_bytes();
  if (size == 0) return;
  if (size >= kSmallChunkBytes) {
    waiting.push_back(InFewFragments(std::move(bytes)));
    return;
  }
  // Pieces read a block's beginning while it grows: it never moves.
  if (block == nullptr || block->capacity() - block->size() < size) {
    block = std::make_shared<std::vector<std::byte>>();
    block->reserve(kBlockBytes);
  }
  const size_t at = block->size();
  block->resize(at + size);
  bytes.bytes.CopyTo(block->data() + at, 0, size);
  const std::byte* begin = block->data() + at;
  if (!waiting.empty() && waiting.back().owner == block) {
    begin = waiting.back().bytes.pieces().front().data();
    waiting.pop_back();
  }
  waiting.push_back({Fragments({begin, block->data() + block->size()}), block});
}

// A range of elements and its inputs' bytes.
struct ChunkedCall::Piece {
  ElementRange range;
  std::vector<Fragments> inputs;  // in schema order
  std::vector<std::shared_ptr<const void>> owners;
  int64_t bytes = 0;  // of the chunks

  absl::Status Run(const Shared& shared) {
    OPSERVE_RETURN_IF_ERROR(shared.ticket->CheckGoesOn());
    OPSERVE_ASSIGN_OR_RETURN(PooledBuffer result,
                             shared.engine.RunPiece(shared.plan, range, shared.chunked, inputs,
                                                    shared.ticket->flow().memory()->client()));
    const OutputSlot& output = shared.plan.call.outputs[0];
    Answer answer;
    answer.header.mutable_chunk()->set_output(std::string(shared.plan.call.op->outputs[0].name));
    answer.header.mutable_chunk()->set_offset_bytes(
        range.begin * static_cast<int64_t>(DTypeSize(output.desc.dtype)));
    answer.raw.push_back(std::move(result));
    shared.ticket->Send(std::move(answer));
    return absl::OkStatus();
  }
};

absl::Status ChunkedCall::Declared::GatherWholeInputs(ClientId client) {
  for (size_t i = 0; i < storages.fragments.size(); ++i) {
    Fragments& storage = storages.fragments[i];
    if (storage.size_bytes() == 0 || storage.LiesAligned(StorageAlignment(plan, i))) continue;
    OPSERVE_ASSIGN_OR_RETURN(PooledBuffer buffer, plan.device->host_memory().Acquire(
                                                      storage.size_bytes(), {.client = client}));
    storage.CopyTo(buffer.data(), 0, buffer.size());
    storage = Fragments({buffer.data(), buffer.size()});
    gathered.push_back(std::move(buffer));
  }
  return absl::OkStatus();
}

ChunkedCall::ChunkedCall(Declared declared, const Limits& limits, std::shared_ptr<Ticket> ticket,
                         Engine& engine, const Clock& clock)
    : shared_(std::make_shared<Shared>(
          Shared{engine, std::move(declared.plan), std::move(declared.chunked),
                 std::move(declared.storages), std::move(declared.owner), std::move(declared.share),
                 std::move(declared.chunks), std::move(declared.memory),
                 std::move(declared.gathered), std::move(ticket)})),
      limits_(limits),
      stream_(Stream::Create(shared_->plan.device->workers(), clock, Stream::OnFailure::kStop,
                             shared_->ticket->flow().memory()->client())),
      total_(shared_->plan.call.outputs[0].desc.num_elements()),
      inputs_(shared_->plan.call.inputs.size()) {
  size_t largest = DTypeSize(shared_->plan.call.outputs[0].desc.dtype);
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (shared_->chunked[i]) largest = std::max(largest, ElementBytes(i));
  }
  piece_elements_ = std::max<int64_t>(1, limits_.piece_bytes / static_cast<int64_t>(largest));
  if (total_ == 0) IssueEnd();
}

size_t ChunkedCall::ElementBytes(size_t input) const {
  return DTypeSize(shared_->plan.call.inputs[input]->dtype);
}

int64_t ChunkedCall::HeldBytes(const Declared& declared, int64_t max_skew_bytes) {
  int64_t bytes = 0;
  for (const Fragments& storage : declared.storages.fragments) {
    bytes += static_cast<int64_t>(storage.size_bytes());
  }
  return bytes +
         max_skew_bytes * std::count(declared.chunked.begin(), declared.chunked.end(), true);
}

absl::Status ChunkedCall::Feed(std::string_view input, absl::StatusOr<Fragments> bytes,
                               std::shared_ptr<const void> owner) {
  absl::Status status = CheckGoesOn();
  if (status.ok()) status = bytes.status();
  if (status.ok()) status = Accept(input, {*std::move(bytes), std::move(owner)});
  return status.ok() ? status : Fail(std::move(status));
}

absl::Status ChunkedCall::CheckGoesOn() const {
  if (shared_->ticket->is_finished()) return MakeError({.reason = ErrorReason::kCancelled});
  return shared_->ticket->CheckGoesOn();
}

absl::Status ChunkedCall::Accept(std::string_view input, OwnedBytes bytes) {
  const int index = shared_->plan.call.op->FindInput(input);
  if (index < 0 || !shared_->chunked[static_cast<size_t>(index)]) {
    return UnknownParameter("input", "the name of an input that was declared chunked",
                            absl::StrCat("\"", std::string(input.substr(0, kMaxNameBytes)), "\""));
  }
  const auto at = static_cast<size_t>(index);
  const auto size = static_cast<int64_t>(bytes.bytes.size_bytes());
  OPSERVE_RETURN_IF_ERROR(CheckChunk(at, size));
  inputs_[at].received += size / static_cast<int64_t>(ElementBytes(at));
  inputs_[at].Append(std::move(bytes));
  IssuePieces();
  return absl::OkStatus();
}

absl::Status ChunkedCall::CheckChunk(size_t input, int64_t bytes) const {
  const std::string_view name = shared_->plan.call.op->inputs[input].name;
  const auto element = static_cast<int64_t>(ElementBytes(input));
  const std::string got = absl::StrCat(bytes, " bytes");
  if (bytes % element != 0) {
    return InvalidParameter(name, absl::StrCat("chunks of whole elements of ", element, " bytes"),
                            got);
  }
  if (bytes > limits_.max_skew_bytes) {
    return InvalidParameter(
        name, absl::StrCat("chunks of at most ", limits_.max_skew_bytes, " bytes"), got);
  }
  const int64_t received = inputs_[input].received + bytes / element;
  if (received > total_) {
    return InvalidParameter(name, absl::StrCat(total_ * element, " bytes in all"),
                            absl::StrCat(received * element));
  }
  int64_t least = received;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (shared_->chunked[i] && i != input) least = std::min(least, inputs_[i].received);
  }
  if ((received - least) * element <= limits_.max_skew_bytes) return absl::OkStatus();
  return InvalidParameter(name,
                          absl::StrCat("at most ", limits_.max_skew_bytes,
                                       " bytes (max_skew_bytes) ahead of the other inputs"),
                          absl::StrCat((received - least) * element));
}

int64_t ChunkedCall::Arrived() const {
  int64_t arrived = total_;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (shared_->chunked[i]) arrived = std::min(arrived, inputs_[i].received);
  }
  return arrived;
}

void ChunkedCall::IssuePieces() {
  const int64_t arrived = Arrived();
  while (issued_ < arrived) IssuePiece(std::min(piece_elements_, arrived - issued_));
}

void ChunkedCall::IssuePiece(int64_t count) {
  Piece piece{.range = {issued_, count}, .inputs = {}, .owners = {}};
  for (size_t i = 0; i < inputs_.size(); ++i) {
    Fragments& bytes = piece.inputs.emplace_back();
    const int storage = shared_->plan.storages[i];
    if (shared_->chunked[i]) {
      bytes =
          TakeFront(inputs_[i].waiting, static_cast<size_t>(count) * ElementBytes(i), piece.owners);
      piece.bytes += static_cast<int64_t>(bytes.size_bytes());
    } else if (storage >= 0) {
      bytes = shared_->storages.fragments[static_cast<size_t>(storage)];
    }
  }
  issued_ += count;
  const int64_t held = piece.bytes + kPieceBytes;
  shared_->ticket->flow().Hold(held);
  stream_->Enqueue(Stream::Command{
      .id = shared_->ticket->id(),
      .run = [shared = shared_, piece = std::move(piece)]() mutable { return piece.Run(*shared); },
      .done =
          [shared = shared_, held](const absl::Status& status) {
            shared->ticket->flow().Release(held);
            if (!status.ok())
              shared->ticket->Finish(WithOperator(status, shared->plan.call.op->name));
          }});
  if (is_complete()) IssueEnd();
}

void ChunkedCall::IssueEnd() {
  stream_->Synchronize([shared = shared_](const Stream::Failure& failure) {
    shared->ticket->Finish(failure.status);
  });
}

absl::Status ChunkedCall::EndOfInput() {
  if (is_complete()) return absl::OkStatus();
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!shared_->chunked[i] || inputs_[i].received == total_) continue;
    const auto element = static_cast<int64_t>(ElementBytes(i));
    return Fail(InvalidParameter(
        shared_->plan.call.op->inputs[i].name, absl::StrCat(total_ * element, " bytes in all"),
        absl::StrCat(inputs_[i].received * element, " before the client sent no more")));
  }
  return absl::OkStatus();
}

void ChunkedCall::Cancel() { Fail(MakeError({.reason = ErrorReason::kCancelled})).IgnoreError(); }

absl::Status ChunkedCall::Fail(absl::Status status) {
  status = WithOperator(std::move(status), shared_->plan.call.op->name);
  shared_->ticket->Finish(status);
  stream_->Abandon();
  return status;
}

}  // namespace opserve::server
