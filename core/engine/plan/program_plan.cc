#include "core/engine/plan/program_plan.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/engine/plan/arena_layout.h"
#include "core/engine/plan/kernel_plan.h"

namespace opserve {

// Gives values their places, stage by stage: a result has its memory from the stage that makes it
// to the last one that reads it. What only its own chain reads has memory for a piece.
class ProgramPlan::Layout {
 public:
  explicit Layout(ProgramPlan& plan)
      : plan_(plan),
        values_(plan.typed_.values),
        places_(values_.size()),
        last_uses_(values_.size(), -1) {}

  void Arrange() {
    FindLastUses();
    for (size_t i = 0; i < plan_.typed_.outputs.size(); ++i)
      places_[static_cast<size_t>(plan_.typed_.outputs[i])] = {Place::In::kOutput, i};
    for (size_t i = 0; i < values_.size(); ++i) PlaceGiven(i);
    for (ProgramStage& stage : plan_.stages_) Arrange(stage);
    plan_.workspace_bytes_ = arena_.peak_bytes();
  }

 private:
  // Bytes of a value kPieceUnit elements at a time.
  static size_t UnitBytes(const TypedProgram::Value& value) {
    return DTypeSize(value.desc.dtype) * kPieceUnit;
  }

  void FindLastUses() {
    for (size_t i = 0; i < plan_.typed_.steps.size(); ++i) {
      for (const int source : plan_.typed_.steps[i].sources)
        if (source >= 0) last_uses_[static_cast<size_t>(source)] = static_cast<int>(i);
    }
  }

  // Inputs lie where the call has them; constants are in the workspace from the start.
  void PlaceGiven(size_t value) {
    if (values_[value].input >= 0) {
      places_[value] = {Place::In::kInput, static_cast<size_t>(values_[value].input)};
    } else if (!values_[value].constant.empty() && last_uses_[value] >= 0) {
      places_[value] = {Place::In::kWorkspace, arena_.Take(values_[value].constant.size())};
      plan_.constants_.push_back({&values_[value], places_[value].at});
    }
  }

  void Arrange(ProgramStage& stage) {
    for (StepChain& chain : stage) {
      if (chain.runs_in_pieces()) PlacePieces(chain);
      for (size_t step = chain.first; step < chain.end; ++step) PlaceResults(step);
    }
    const size_t first = stage.front().first;
    const size_t end = stage.back().end;
    PlaceScratch(first, end);
    for (const StepChain& chain : stage) {
      for (size_t step = chain.first; step < chain.end; ++step) SetPlaces(chain, step);
    }
    // Steps of a stage may run at any time of it, so that nothing is free before its end.
    ForEachValue(first, end, [&](size_t value) {
      if (last_uses_[value] < static_cast<int>(end)) Free(value);
    });
  }

  // Of what the chain's steps make and only they read.
  void PlacePieces(StepChain& chain) {
    ArenaLayout pieces;
    std::vector<size_t> placed;
    for (size_t step = chain.first; step < chain.end; ++step) {
      const auto made = static_cast<size_t>(plan_.typed_.steps[step].first_value);
      const bool is_placed =
          places_[made].in == Place::In::kNowhere && last_uses_[made] < static_cast<int>(chain.end);
      const std::optional<size_t> over = is_placed ? TakenOver(step, made) : std::nullopt;
      if (is_placed) {
        const size_t at = over ? places_[*over].at : pieces.Take(UnitBytes(values_[made]));
        places_[made] = {Place::In::kPiece, at};
        CountIntermediate(made);
        placed.push_back(made);
      }
      ForEachValue(step, step + 1, [&](size_t value) {
        if (value != over && IsReadLast(step, value))
          pieces.Free(places_[value].at, UnitBytes(values_[value]));
      });
    }
    const size_t unit = std::max<size_t>(pieces.peak_bytes(), 1);
    const auto units = std::min<size_t>(kPieceBytes / unit, kMaxPiece / kPieceUnit);
    chain.piece = static_cast<int64_t>(units) * kPieceUnit;
    for (const size_t value : placed) places_[value].at *= units;
  }

  // A piece that the step reads last, or makes and nobody reads.
  bool IsReadLast(size_t step, size_t value) const {
    return places_[value].in == Place::In::kPiece && last_uses_[value] <= static_cast<int>(step);
  }

  // The value whose memory what the step makes may have: read there for the last time, with
  // elements as large (KernelArgs::windowed).
  std::optional<size_t> TakenOver(size_t step, size_t made) const {
    for (const int source : plan_.typed_.steps[step].sources) {
      if (source < 0) continue;
      const auto value = static_cast<size_t>(source);
      if (IsReadLast(step, value) && UnitBytes(values_[value]) == UnitBytes(values_[made]))
        return value;
    }
    return std::nullopt;
  }

  void PlaceResults(size_t index) {
    const OpCall& call = plan_.steps_[index].plan.call;
    for (size_t i = 0; i < call.outputs.size(); ++i) {
      const auto value = static_cast<size_t>(plan_.typed_.steps[index].value_of(i));
      if (!call.outputs[i].wanted || places_[value].in != Place::In::kNowhere) continue;
      places_[value] = {Place::In::kWorkspace,
                        arena_.Take(static_cast<size_t>(values_[value].desc.size_bytes()))};
      CountIntermediate(value);
    }
  }

  void CountIntermediate(size_t value) {
    plan_.intermediate_bytes_ =
        SaturatingSum({plan_.intermediate_bytes_, values_[value].desc.size_bytes()});
  }

  void PlaceScratch(size_t first, size_t end) {
    ArenaLayout control;
    for (size_t i = first; i < end; ++i) {
      Step& step = plan_.steps_[i];
      step.scratch = arena_.Take(step.plan.workspace_bytes);
      step.control = control.Take(step.plan.control_bytes);
    }
    for (size_t i = first; i < end; ++i)
      arena_.Free(plan_.steps_[i].scratch, plan_.steps_[i].plan.workspace_bytes);
    plan_.control_bytes_ = std::max(plan_.control_bytes_, control.peak_bytes());
  }

  void SetPlaces(const StepChain& chain, size_t index) {
    const TypedProgram::Step& typed = plan_.typed_.steps[index];
    Step& step = plan_.steps_[index];
    for (const int source : typed.sources) {
      step.inputs.push_back(source < 0 ? Place{} : places_[static_cast<size_t>(source)]);
      step.windowed.push_back(chain.runs_in_pieces() && IsMadeBy(chain, source));
    }
    for (size_t i = 0; i < step.plan.call.outputs.size(); ++i)
      step.outputs.push_back(places_[static_cast<size_t>(typed.value_of(i))]);
    if (chain.runs_in_pieces()) step.is_read_next = IsReadWithin(chain, index);
  }

  bool IsMadeBy(const StepChain& chain, int source) const {
    if (source < 0) return false;
    const std::vector<TypedProgram::Step>& steps = plan_.typed_.steps;
    const TypedProgram::Value& value = values_[static_cast<size_t>(source)];
    return value.input < 0 && value.constant.empty() && source >= steps[chain.first].first_value &&
           source <= steps[chain.end - 1].first_value;  // each makes one value
  }

  bool IsReadWithin(const StepChain& chain, size_t step) const {
    const int made = plan_.typed_.steps[step].first_value;
    for (size_t i = step + 1; i < chain.end; ++i) {
      const auto& sources = plan_.typed_.steps[i].sources;
      if (std::find(sources.begin(), sources.end(), made) != sources.end()) return true;
    }
    return false;
  }

  // Each value that the steps [first, end) make or read, once.
  template <typename Visit>
  void ForEachValue(size_t first, size_t end, const Visit& visit) const {
    absl::flat_hash_set<size_t> seen;
    for (size_t i = first; i < end; ++i) {
      const TypedProgram::Step& typed = plan_.typed_.steps[i];
      for (size_t k = 0; k < plan_.steps_[i].plan.call.outputs.size(); ++k) {
        const auto value = static_cast<size_t>(typed.value_of(k));
        if (seen.insert(value).second) visit(value);
      }
      for (const int source : typed.sources) {
        if (source >= 0 && seen.insert(static_cast<size_t>(source)).second)
          visit(static_cast<size_t>(source));
      }
    }
  }

  void Free(size_t value) {
    if (places_[value].in != Place::In::kWorkspace) return;
    const TypedProgram::Value& freed = values_[value];
    const bool is_constant = !freed.constant.empty();
    arena_.Free(places_[value].at,
                is_constant ? freed.constant.size() : static_cast<size_t>(freed.desc.size_bytes()));
  }

  ProgramPlan& plan_;
  const std::vector<TypedProgram::Value>& values_;
  std::vector<Place> places_;
  std::vector<int> last_uses_;  // the step; -1 = none
  ArenaLayout arena_;
};

absl::StatusOr<std::shared_ptr<const ProgramPlan>> ProgramPlan::Make(
    const std::shared_ptr<const Program>& program, const OpCall& call, Device& device) {
  OPSERVE_ASSIGN_OR_RETURN(std::shared_ptr<const ProgramPlan> best,
                           MakeInSegments(program, call, 1, device));
  const int64_t most =
      program->gradients().has_value() ? program->gradients()->max_workspace_bytes : 0;
  if (most == 0) return best;
  const auto fits = [&] { return best->workspace_bytes() <= static_cast<size_t>(most); };
  // More segments compute more again. The memory falls until there are about as many as a segment
  // has steps, and rises then. Each attempt takes as long as planning without a bound, so few are
  // made.
  for (size_t segments = 2; !fits() && segments <= program->steps().size(); segments *= 4) {
    OPSERVE_ASSIGN_OR_RETURN(std::shared_ptr<const ProgramPlan> made,
                             MakeInSegments(program, call, segments, device));
    if (made->workspace_bytes() >= best->workspace_bytes()) break;
    best = std::move(made);
  }
  if (fits()) return best;
  return WithOperator(
      OutOfRange("gradient.max_workspace_bytes",
                 absl::StrCat("at least ", best->workspace_bytes(),
                              ", which the program takes with results computed again"),
                 absl::StrCat(most)),
      kProgramName);
}

absl::StatusOr<std::shared_ptr<const ProgramPlan>> ProgramPlan::MakeInSegments(
    std::shared_ptr<const Program> program, const OpCall& call, size_t segments, Device& device) {
  const std::shared_ptr<ProgramPlan> made(new ProgramPlan());
  OPSERVE_ASSIGN_OR_RETURN(made->typed_, TypeProgram(*program, call, segments));
  made->source_ = std::move(program);
  made->steps_.reserve(made->typed_.steps.size());
  for (TypedProgram::Step& typed : made->typed_.steps) {
    Step& step = made->steps_.emplace_back();
    step.plan.call = std::move(typed.call);
    step.plan.device = &device;
    const absl::Status status = PlanKernel(step.plan);
    if (!status.ok()) return WithStep(status, typed.name);
    Cost& cost = made->cost_;
    cost.bytes = SaturatingSum({cost.bytes, step.plan.cost.bytes});
    cost.operations = SaturatingSum({cost.operations, step.plan.cost.operations});
    cost.time += step.plan.cost.time;
  }
  std::vector<const Plan*> plans;
  for (const Step& step : made->steps_) plans.push_back(&step.plan);
  made->stages_ = FindStages(made->typed_, plans, device);
  Layout(*made).Arrange();
  return made;
}

int64_t ProgramPlan::host_bytes() const {
  // As messages and as plans, measured roughly.
  constexpr int64_t kStepBytes = 4096;
  int64_t bytes = static_cast<int64_t>(steps_.size()) * kStepBytes;
  for (const TypedProgram::Value& value : typed_.values)
    bytes += 512 + static_cast<int64_t>(2 * value.constant.size());
  return bytes;
}

}  // namespace opserve
