// Calls of programs through an engine.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/engine/engine.h"
#include "core/engine/plan/program_plan.h"
#include "core/program/program.h"
#include "tests/support/test_tensor.h"

namespace opserve::testing {

// Inputs by name, in the order of the call.
using Tensors = std::vector<std::pair<std::string, TestTensor>>;

// A step on values as they are.
ProgramSource::Step StepOf(std::string name, std::string_view op,
                           std::vector<std::pair<std::string, std::string>> values,
                           std::vector<NamedAttribute> attributes = {});

// With the names of `inputs`.
ProgramSource SourceOf(const Tensors& inputs, std::vector<ProgramSource::Step> steps,
                       std::vector<ProgramSource::Output> outputs);

absl::StatusOr<Plan> PlanProgram(const Engine& engine, ProgramSource source, const Tensors& inputs);

// Outputs by name.
using Results = std::map<std::string, TestTensor>;
absl::StatusOr<Results> RunProgram(Engine& engine, ProgramSource source, const Tensors& inputs);

}  // namespace opserve::testing
