// Running a case: through the engine as services do, or on a kernel with memory of the test's own
// around it.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/engine/engine.h"
#include "tests/support/cases.h"
#include "tests/support/test_tensor.h"

namespace opserve::testing {

// An engine with one CPU device; with an NPU, where OPSERVE_TEST_DEVICE is "ascend".
std::unique_ptr<Engine> MakeEngine(int threads, Profile profile = Profile::kHost);

// What the call's `done` gets, which this sets.
absl::StatusOr<Outputs> SubmitAndWait(Engine& engine, OneShot shot);

// Plans, submits, waits. Outputs in schema order; a masked-out one is empty.
absl::StatusOr<std::vector<TestTensor>> Run(Engine& engine, const OpCase& op_case);

// The call of a case by position, not planned yet: for tests that give or take away outputs.
absl::StatusOr<OpCall> BindCase(const OpCase& op_case, Profile profile = Profile::kHost);

// The plan of a case, as phase one makes it.
absl::StatusOr<OpCall> PlanCase(const OpCase& op_case, Profile profile = Profile::kHost);

// Runs the device's kernel on `call` (planned) with outputs laid out as `call` says. The workspace
// is filled with `dirt` and has canaries on both sides, as have the outputs; elements between those
// of a strided output must keep their bytes. Any damage fails the test.
absl::StatusOr<std::vector<TestTensor>> RunKernel(Device& device, const OpCall& call,
                                                  const OpCase& op_case, std::byte dirt);

}  // namespace opserve::testing
