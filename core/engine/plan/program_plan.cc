#include "core/engine/plan/program_plan.h"

#include <algorithm>
#include <utility>

#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/engine/plan/arena_layout.h"
#include "core/engine/plan/kernel_plan.h"

namespace opserve {

// Gives values their places, step by step: a result has its memory from the step that makes it to
// the last one that reads it.
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
    for (size_t i = 0; i < plan_.steps_.size(); ++i) Arrange(static_cast<int>(i));
    plan_.workspace_bytes_ = arena_.peak_bytes();
  }

 private:
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

  void Arrange(int index) {
    const TypedProgram::Step& typed = plan_.typed_.steps[static_cast<size_t>(index)];
    Step& step = plan_.steps_[static_cast<size_t>(index)];
    const size_t outputs = step.plan.call.outputs.size();
    for (size_t i = 0; i < outputs; ++i) PlaceResult(typed, step.plan.call, i);
    step.scratch = arena_.Take(step.plan.workspace_bytes);
    arena_.Free(step.scratch, step.plan.workspace_bytes);
    plan_.control_bytes_ = std::max(plan_.control_bytes_, step.plan.control_bytes);
    for (const int source : typed.sources)
      step.inputs.push_back(source < 0 ? Place{} : places_[static_cast<size_t>(source)]);
    for (size_t i = 0; i < outputs; ++i) {
      const auto value = static_cast<size_t>(typed.value_of(i));
      step.outputs.push_back(places_[value]);
      if (last_uses_[value] < index) Free(value);
    }
    for (size_t i = 0; i < typed.sources.size(); ++i) {
      const int source = typed.sources[i];
      const auto before = typed.sources.begin() + static_cast<std::ptrdiff_t>(i);
      const bool is_again = std::find(typed.sources.begin(), before, source) != before;
      if (source >= 0 && !is_again && last_uses_[static_cast<size_t>(source)] == index)
        Free(static_cast<size_t>(source));
    }
  }

  void PlaceResult(const TypedProgram::Step& typed, const OpCall& call, size_t output) {
    const auto value = static_cast<size_t>(typed.value_of(output));
    if (!call.outputs[output].wanted || places_[value].in == Place::In::kOutput) return;
    const int64_t bytes = values_[value].desc.size_bytes();
    places_[value] = {Place::In::kWorkspace, arena_.Take(static_cast<size_t>(bytes))};
    plan_.intermediate_bytes_ = SaturatingSum({plan_.intermediate_bytes_, bytes});
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
    std::shared_ptr<const Program> program, const OpCall& call, Device& device) {
  const std::shared_ptr<ProgramPlan> made(new ProgramPlan());
  OPSERVE_ASSIGN_OR_RETURN(made->typed_, TypeProgram(*program, call));
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
