#include "core/engine/run/program_run.h"

#include <cstddef>
#include <string>

#include "core/base/alignment.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve {
namespace {

class Runner {
 public:
  Runner(const ProgramPlan& program, Device& device, const KernelArgs& args)
      : program_(program), device_(device), args_(args) {}

  absl::Status Run() {
    OPSERVE_RETURN_IF_ERROR(UploadConstants());
    for (size_t i = 0; i < program_.steps().size(); ++i) {
      if (args_.workers.ShouldStop()) return absl::OkStatus();
      const absl::Status status = RunStep(program_.steps()[i]);
      if (status.ok()) continue;
      return WithStep(WithOperator(status, program_.steps()[i].plan.call.op->name),
                      program_.program().steps[i].name);
    }
    return absl::OkStatus();
  }

 private:
  absl::Status UploadConstants() {
    for (const ProgramPlan::Constant& constant : program_.constants()) {
      const std::vector<std::byte>& bytes = constant.value->constant;
      OPSERVE_RETURN_IF_ERROR(device_.Upload({.start = args_.workspace.data() + constant.offset,
                                              .row_bytes = static_cast<int64_t>(bytes.size())},
                                             Fragments(bytes), args_.workers));
    }
    return absl::OkStatus();
  }

  absl::Status RunStep(const ProgramPlan::Step& step) {
    if (step.plan.makes_nothing()) return absl::OkStatus();
    absl::InlinedVector<const std::byte*, 8> inputs;
    for (const ProgramPlan::Place& place : step.inputs) inputs.push_back(InputAt(place));
    absl::InlinedVector<std::byte*, 8> outputs;
    for (const ProgramPlan::Place& place : step.outputs) outputs.push_back(OutputAt(place));
    return device_.Execute(
        *step.plan.kernel,
        {.call = step.plan.call,
         .inputs = inputs,
         .outputs = outputs,
         .workspace = args_.workspace.subspan(step.scratch, step.plan.workspace_bytes),
         .control = args_.control.first(step.plan.control_bytes),
         .workers = args_.workers});
  }

  const std::byte* InputAt(const ProgramPlan::Place& place) const {
    using In = ProgramPlan::Place::In;
    return place.in == In::kInput ? args_.inputs[place.at] : OutputAt(place);
  }
  // Of results.
  std::byte* OutputAt(const ProgramPlan::Place& place) const {
    using In = ProgramPlan::Place::In;
    switch (place.in) {
      case In::kOutput: {
        const TensorDesc& desc = args_.call.outputs[place.at].desc;
        const auto offset = static_cast<size_t>(desc.storage_offset) * DTypeSize(desc.dtype);
        return args_.outputs[place.at] + offset;
      }
      case In::kWorkspace:
        // Where nothing has bytes there is none.
        return args_.workspace.empty() ? nothing_ : args_.workspace.data() + place.at;
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
