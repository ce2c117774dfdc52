#include "core/engine/run/program_run.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "core/base/alignment.h"
#include "core/base/mutex.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve {
namespace {

// Of what runs side by side: the error of the first in order. Thread-safe.
class FirstError {
 public:
  void Add(int64_t index, const absl::Status& status) {
    if (status.ok()) return;
    MutexLock lock(mutex_);
    if (!status_.ok() && index_ < index) return;
    index_ = index;
    status_ = status;
  }
  absl::Status Take() {
    MutexLock lock(mutex_);
    return std::move(status_);
  }

 private:
  Mutex mutex_;
  int64_t index_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

class Runner {
 public:
  Runner(const ProgramPlan& program, Device& device, const KernelArgs& args)
      : program_(program), device_(device), args_(args) {}

  absl::Status Run() {
    OPSERVE_RETURN_IF_ERROR(UploadConstants());
    for (const ProgramStage& stage : program_.stages()) {
      if (args_.workers.ShouldStop()) return absl::OkStatus();
      OPSERVE_RETURN_IF_ERROR(RunStage(stage));
    }
    return absl::OkStatus();
  }

 private:
  using Step = ProgramPlan::Step;
  using Place = ProgramPlan::Place;

  // What one thread makes at a time: of every result of a chain, or (not `is_part`) all of one
  // step.
  struct Piece {
    bool is_part = false;
    ElementRange range = {};
    std::byte* memory = nullptr;  // kPieceBytes
  };

  absl::Status UploadConstants() {
    for (const ProgramPlan::Constant& constant : program_.constants()) {
      const std::vector<std::byte>& bytes = constant.value->constant;
      OPSERVE_RETURN_IF_ERROR(device_.Upload({.start = args_.workspace.data() + constant.offset,
                                              .row_bytes = static_cast<int64_t>(bytes.size())},
                                             Fragments(bytes), args_.workers));
    }
    return absl::OkStatus();
  }

  absl::Status RunStage(const ProgramStage& stage) {
    if (stage.size() == 1) return RunChain(stage.front());
    FirstError error;
    args_.workers.ParallelFor(static_cast<int64_t>(stage.size()), [&](int64_t i) {
      error.Add(i, RunChain(stage[static_cast<size_t>(i)]));
    });
    return error.Take();
  }

  absl::Status RunChain(const StepChain& chain) {
    if (!chain.runs_in_pieces()) return RunStep(chain.first, {});
    FirstError error;
    const int64_t pieces = (chain.elements + chain.piece - 1) / chain.piece;
    args_.workers.ParallelFor(pieces, [&](int64_t i) { error.Add(i, RunPiece(chain, i)); });
    return error.Take();
  }

  absl::Status RunPiece(const StepChain& chain, int64_t index) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): steps write it before they read it.
    alignas(kDeviceAlignment) std::array<std::byte, kPieceBytes> memory;
    const int64_t begin = index * chain.piece;
    const Piece piece{.is_part = true,
                      .range = {begin, std::min(chain.piece, chain.elements - begin)},
                      .memory = memory.data()};
    for (size_t step = chain.first; step < chain.end; ++step) {
      OPSERVE_RETURN_IF_ERROR(RunStep(step, piece));
      // A step that was stopped has not written what the next one would read.
      if (args_.workers.stopped()) break;
    }
    return absl::OkStatus();
  }

  absl::Status RunStep(size_t index, const Piece& piece) {
    const Step& step = program_.steps()[index];
    if (step.plan.makes_nothing()) return absl::OkStatus();
    absl::Status status = Execute(step, piece);
    if (status.ok()) return status;
    return WithStep(WithOperator(status, step.plan.call.op->name),
                    program_.program().steps[index].name);
  }

  absl::Status Execute(const Step& step, const Piece& piece) {
    const OpCall& call = step.plan.call;
    absl::InlinedVector<const std::byte*, 8> inputs;
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      const std::byte* const start = InputAt(step.inputs[i], piece);
      inputs.push_back(step.windowed[i] ? Window(start, *call.inputs[i], step.inputs[i], piece)
                                        : start);
    }
    absl::InlinedVector<std::byte*, 8> outputs;
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      std::byte* const start = OutputAt(step.outputs[i], piece);
      outputs.push_back(piece.is_part ? Window(start, call.outputs[i].desc, step.outputs[i], piece)
                                      : start);
    }
    return device_.Execute(
        *step.plan.kernel,
        {.call = call,
         .inputs = inputs,
         .outputs = outputs,
         .workspace = args_.workspace.subspan(step.scratch, step.plan.workspace_bytes),
         .control = args_.control.subspan(step.control, step.plan.control_bytes),
         .workers = args_.workers,
         .range = piece.range,
         .windowed = piece.is_part ? std::span<const bool>(step.windowed) : std::span<const bool>(),
         .range_is_read_next = step.is_read_next});
  }

  // Where the piece's elements begin in a tensor that starts at `start`.
  template <typename Byte>
  static Byte* Window(Byte* start, const TensorDesc& desc, const Place& place, const Piece& piece) {
    if (place.in == Place::In::kPiece) return start;
    return start + static_cast<size_t>(piece.range.begin) * DTypeSize(desc.dtype);
  }

  const std::byte* InputAt(const Place& place, const Piece& piece) const {
    return place.in == Place::In::kInput ? args_.inputs[place.at] : OutputAt(place, piece);
  }
  // Of results.
  std::byte* OutputAt(const Place& place, const Piece& piece) const {
    using In = Place::In;
    switch (place.in) {
      case In::kOutput: {
        const TensorDesc& desc = args_.call.outputs[place.at].desc;
        const auto offset = static_cast<size_t>(desc.storage_offset) * DTypeSize(desc.dtype);
        return args_.outputs[place.at] + offset;
      }
      case In::kWorkspace:
        // Where nothing has bytes there is none.
        return args_.workspace.empty() ? nothing_ : args_.workspace.data() + place.at;
      case In::kPiece:
        return piece.memory + place.at;
      case In::kInput:
      case In::kNowhere:
        break;
    }
    return nullptr;
  }

  alignas(kDeviceAlignment) static inline std::byte nothing_[kDeviceAlignment];

  const ProgramPlan& program_;
  Device& device_;
  const KernelArgs& args_;
};

}  // namespace

absl::Status RunProgram(const ProgramPlan& program, Device& device, const KernelArgs& args) {
  return Runner(program, device, args).Run();
}

}  // namespace opserve
