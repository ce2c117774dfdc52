#include "tests/core/program/program_calls.h"

#include <cstring>
#include <memory>

#include "core/base/status_macros.h"
#include "core/op/op_table.h"
#include "tests/support/run.h"

namespace opserve::testing {

ProgramSource::Step StepOf(std::string name, std::string_view op,
                           std::vector<std::pair<std::string, std::string>> values,
                           std::vector<NamedAttribute> attributes) {
  ProgramSource::Step step;
  step.name = std::move(name);
  step.op = *FindOperator(op);
  for (auto& [input, value] : values) {
    ProgramSource::Argument argument;
    argument.name = std::move(input);
    argument.value = std::move(value);
    step.arguments.push_back(std::move(argument));
  }
  step.attributes = std::move(attributes);
  return step;
}

ProgramSource SourceOf(const Tensors& inputs, std::vector<ProgramSource::Step> steps,
                       std::vector<ProgramSource::Output> outputs) {
  ProgramSource source;
  for (const auto& [name, tensor] : inputs) source.inputs.push_back(name);
  source.steps = std::move(steps);
  source.outputs = std::move(outputs);
  return source;
}

absl::StatusOr<Plan> PlanProgram(const Engine& engine, ProgramSource source,
                                 const Tensors& inputs) {
  OPSERVE_ASSIGN_OR_RETURN(const std::shared_ptr<const Program> program,
                           Program::Make(std::move(source)));
  NamedCall call;
  call.op = program.get();
  call.made = program;
  for (const auto& [name, tensor] : inputs)
    call.inputs.push_back({name, tensor.desc(), static_cast<int>(call.inputs.size())});
  return engine.MakePlan(call);
}

absl::StatusOr<Results> RunProgram(Engine& engine, ProgramSource source, const Tensors& inputs) {
  OneShot shot;
  OPSERVE_ASSIGN_OR_RETURN(const Plan plan, PlanProgram(engine, std::move(source), inputs));
  shot.plan = plan;
  for (const auto& [name, tensor] : inputs) shot.storages.emplace_back(std::span(tensor.bytes()));
  OPSERVE_ASSIGN_OR_RETURN(const Outputs outputs, SubmitAndWait(engine, std::move(shot)));
  Results results;
  for (const OutputTensor& output : outputs) {
    TestTensor tensor(output.desc);
    const auto bytes = static_cast<size_t>(output.desc.size_bytes());
    if (bytes > 0) std::memcpy(tensor.data(), output.bytes.data(), bytes);
    results.emplace(output.name, std::move(tensor));
  }
  return results;
}

}  // namespace opserve::testing
