#include "client/cpp/session/chunked_call.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cpp/session/incoming_outputs.h"
#include "client/cpp/session/session_command.h"
#include "client/cpp/session/transfer.h"
#include "client/cpp/wire/asked_outputs.h"
#include "client/cpp/wire/call_messages.h"
#include "core/base/clock.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"

namespace opserve::client {
namespace {

// Chunks of all inputs together that are on their way to the transport at once.
constexpr int kChunksUnderWay = 8;

// Room for a bounded number of chunks, each with memory that is used again.
class Slots : public std::enable_shared_from_this<Slots> {
 public:
  using Memory = std::shared_ptr<std::byte>;

  // An owner that keeps a slot; nullptr when none came free by `deadline`. `memory` gets what the
  // slot holds.
  std::shared_ptr<const void> Take(absl::Time deadline, size_t size_bytes, Memory* memory) {
    Memory kept;
    {
      const MutexLock lock(mutex_);
      while (taken_ == kChunksUnderWay) {
        if (!WaitUntil(deadline, freed_, mutex_)) return nullptr;
      }
      ++taken_;
      if (memory != nullptr && !spare_.empty()) {
        kept = std::move(spare_.back());
        spare_.pop_back();
      }
    }
    if (memory != nullptr && kept == nullptr) kept = AllocateTensorBytes(size_bytes);
    if (memory != nullptr) *memory = kept;
    return Lend([self = shared_from_this(), kept] { self->Free(kept); });
  }

  // Waits until all are free.
  void WaitForAll() {
    const MutexLock lock(mutex_);
    while (taken_ > 0) freed_.Wait(mutex_);
  }

 private:
  void Free(const Memory& memory) {
    const MutexLock lock(mutex_);
    --taken_;
    if (memory != nullptr) spare_.push_back(memory);
    freed_.NotifyAll();
  }

  Mutex mutex_;
  CondVar freed_;
  int taken_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<Memory> spare_ ABSL_GUARDED_BY(mutex_);
};

// One input that goes in chunks.
struct ChunkedInput {
  std::string name;
  TensorView view;
  ChunkSource source;  // none: the view's storage
  int64_t element_bytes = 0;
};

struct ChunkedCallParts {
  std::vector<ChunkedInput> chunked;
  Dims shape;  // of the output, and of all that goes in chunks
  int64_t num_elements = 0;
  int64_t element_bytes = 1;  // of the widest chunked input
  bool borrows = false;       // memory without an owner
};

ChunkSource TakeSource(std::vector<std::pair<std::string, ChunkSource>>& sources,
                       const std::string& name) {
  const auto found = std::find_if(sources.begin(), sources.end(),
                                  [&name](const auto& source) { return source.first == name; });
  if (found == sources.end()) return nullptr;
  ChunkSource source = std::move(found->second);
  sources.erase(found);
  return source;
}

absl::StatusOr<Dims> BroadcastShape(const Call& call) {
  Dims shape;
  for (const auto& [name, view] : call.inputs()) {
    OPSERVE_RETURN_IF_ERROR(CheckDesc(view.Desc(), name));
    std::optional<Dims> both = BroadcastShapes(shape, view.shape);
    if (!both.has_value()) {
      return InvalidParameter(name,
                              absl::StrCat("a shape that broadcasts with ", ShapeToString(shape)),
                              ShapeToString(view.shape));
    }
    shape = *std::move(both);
  }
  return shape;
}

// Whether an input can go in chunks; the error when it must and cannot.
absl::StatusOr<bool> GoesInChunks(const std::string& name, const TensorView& view,
                                  const Dims& shape, const ChunkSource& source) {
  const TensorDesc desc = view.Desc();
  if (!source && (!SameShape(view.shape, shape) || !desc.IsPlain())) return false;
  if (source && (!SameShape(view.shape, shape) || !desc.IsPlain() || !view.storage.empty())) {
    return InvalidParameter(
        name,
        absl::StrCat("a dense view of shape ", ShapeToString(shape),
                     " without storage, for it has a source"),
        absl::StrCat("shape ", ShapeToString(view.shape), ", ", view.storage.size(), " bytes"));
  }
  if (!source) {
    OPSERVE_RETURN_IF_ERROR(CheckStorage(desc, static_cast<int64_t>(view.storage.size()), name));
  }
  return true;
}

absl::StatusOr<ChunkedCallParts> Divide(const Call& call, ChunkedOptions& options) {
  OPSERVE_ASSIGN_OR_RETURN(const Dims shape, BroadcastShape(call));
  ChunkedCallParts parts;
  parts.shape = shape;
  parts.num_elements = NumElements(shape).value_or(0);
  for (const auto& [name, view] : call.inputs()) {
    ChunkSource source = TakeSource(options.sources, name);
    OPSERVE_ASSIGN_OR_RETURN(const bool in_chunks, GoesInChunks(name, view, shape, source));
    parts.borrows = parts.borrows || (!source && view.owner == nullptr);
    if (!in_chunks) continue;
    const auto element_bytes = static_cast<int64_t>(DTypeSize(view.dtype));
    parts.element_bytes = std::max(parts.element_bytes, element_bytes);
    parts.chunked.push_back({name, view, std::move(source), element_bytes});
  }
  if (options.sources.empty()) return parts;
  return InvalidParameter("sources", "names of the call's inputs", options.sources[0].first);
}

// One call on its way.
class ChunkedRun {
 public:
  ChunkedRun(SessionChannel& channel, const Call& call, ChunkedCallParts parts, OutputSink sink,
             absl::Duration timeout)
      : channel_(channel),
        call_(call),
        parts_(std::move(parts)),
        timeout_(timeout),
        deadline_(channel.Deadline(timeout)),
        meaning_(absl::StrCat("ExecuteChunked of ", call.op())),
        answer_(std::make_shared<IncomingOutputs>(std::move(sink))) {
    answer_->ExpectOne(parts_.shape, AskedOf(call));
  }

  absl::StatusOr<ExecuteResult> Run() {
    SendHeader();
    const absl::Status sent = SendChunks();
    const bool is_given_up = !sent.ok() || answer_->failed();
    if (is_given_up) GiveUp();
    std::optional<absl::StatusOr<ExecuteResult>> result = answer_->Wait(deadline_);
    if (!result.has_value() && !is_given_up) GiveUp();
    if (parts_.borrows) WaitForLoans();
    if (!sent.ok()) return sent;
    return result.has_value() ? *std::move(result) : channel_.TooLate(meaning_);
  }

 private:
  bool InChunks(const std::string& name) const {
    return std::any_of(parts_.chunked.begin(), parts_.chunked.end(),
                       [&name](const ChunkedInput& input) { return input.name == name; });
  }

  void WaitForLoans() {
    whole_released_.Wait(absl::InfiniteFuture());
    slots_->WaitForAll();
  }

  void SendHeader() {
    const auto loan = Lend([released = whole_released_] { released.Set(true); });
    Command command;
    command.meaning = meaning_;
    SetTimeout(timeout_, command);
    v1::Call& message = *command.message.mutable_execute_chunked()->mutable_call();
    FillCall(call_, message);
    FillSharedOutputs(call_, message);  // for the server to refuse
    for (int i = 0; i < message.inputs_size(); ++i) {
      const auto& [name, view] = call_.inputs()[static_cast<size_t>(i)];
      if (InChunks(name)) {
        message.mutable_inputs(i)->mutable_chunked();
        continue;
      }
      message.mutable_inputs(i)->set_raw_index(static_cast<uint32_t>(command.raw.size()));
      command.raw.push_back({view.storage, view.owner == nullptr ? loan : view.owner});
    }
    id_ = channel_.Send(std::move(command),
                        [answer = answer_](SessionAnswer& part) { answer->OnAnswer(part); });
  }

  // OK when all was sent, or when the call ended meanwhile.
  absl::Status SendChunks() {
    const int64_t bytes = std::min(ChunkBytes(channel_.info()), channel_.info().max_skew_bytes);
    const int64_t step = std::max<int64_t>(1, bytes / parts_.element_bytes);
    for (int64_t first = 0; first < parts_.num_elements; first += step) {
      const int64_t count = std::min(step, parts_.num_elements - first);
      for (ChunkedInput& input : parts_.chunked) {
        if (id_ == 0 || answer_->failed()) return absl::OkStatus();
        OPSERVE_RETURN_IF_ERROR(
            SendChunk(input, first * input.element_bytes, count * input.element_bytes));
      }
    }
    return absl::OkStatus();
  }

  absl::Status SendChunk(ChunkedInput& input, int64_t offset, int64_t bytes) {
    Slots::Memory memory;
    const auto size = static_cast<size_t>(bytes);
    RawEntry entry;
    entry.owner = slots_->Take(deadline_, size, input.source ? &memory : nullptr);
    if (entry.owner == nullptr) return channel_.TooLate(meaning_);
    if (input.source) {
      OPSERVE_RETURN_IF_ERROR(input.source(offset, {memory.get(), size}));
      entry.bytes = {memory.get(), size};
    } else {
      entry.bytes = input.view.storage.subspan(static_cast<size_t>(offset), size);
      entry.owner = Both(std::move(entry.owner), input.view.owner);
    }
    Command command;
    command.message.mutable_input_chunk()->set_command(id_);
    command.message.mutable_input_chunk()->set_input(input.name);
    command.raw.push_back(std::move(entry));
    channel_.Send(std::move(command));
    return absl::OkStatus();
  }

  static std::shared_ptr<const void> Both(std::shared_ptr<const void> a,
                                          std::shared_ptr<const void> b) {
    if (b == nullptr) return a;
    using Pair = std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>;
    return std::make_shared<const Pair>(std::move(a), std::move(b));
  }

  // Ends the call at the server, which otherwise waits for its inputs.
  void GiveUp() { channel_.CancelCommand(id_); }

  SessionChannel& channel_;
  const Call& call_;
  ChunkedCallParts parts_;
  const absl::Duration timeout_;
  const absl::Time deadline_;
  const std::string meaning_;
  const std::shared_ptr<IncomingOutputs> answer_;
  const std::shared_ptr<Slots> slots_ = std::make_shared<Slots>();
  const Waiter<bool> whole_released_;
  uint64_t id_ = 0;
};

}  // namespace

absl::StatusOr<ExecuteResult> ExecuteInChunks(SessionChannel& channel, const Call& call,
                                              ChunkedOptions options) {
  absl::StatusOr<ChunkedCallParts> parts = Divide(call, options);
  if (!parts.ok()) return WithOperator(parts.status(), call.op());
  return ChunkedRun(channel, call, *std::move(parts), std::move(options.sink), options.timeout)
      .Run();
}

}  // namespace opserve::client
