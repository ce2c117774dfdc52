// Running a case: through the engine as services do, or on a kernel with memory of the test's own
// around it.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
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

// Phase one refuses the case for this parameter, as kParamInvalid.
void ExpectInvalid(const OpCase& op_case, std::string_view parameter,
                   Profile profile = Profile::kHost);

// What of a kernel's memory may be a client's.
struct ClientMemory {
  std::vector<std::span<std::byte>> inputs;  // in schema order; empty for one that is not given
  std::span<std::byte> workspace;
};

// Fills `memory` with a pattern, again and again.
void Repeat(std::span<const std::byte> pattern, std::span<std::byte> memory);

// Patterns that make other numbers of all of a memory's bytes, whatever their type.
std::vector<std::byte> DirtOf(uint64_t seed);

// How to run a kernel.
struct KernelTrial {
  // What its memory is filled with before, again and again.
  std::vector<std::byte> outputs = {std::byte{0xFF}};
  std::vector<std::byte> scratch = {std::byte{0xFF}};
  // What its workers ask whether to stop, on any thread; it may write to the memory, where that is
  // the host's.
  std::function<bool(const ClientMemory&)> stop = [](const ClientMemory&) { return false; };
};

// Runs the device's kernel on `call` (planned) with outputs laid out as `call` says. All of its
// memory has canaries on both sides; elements between those of a strided output must keep their
// bytes. Any damage fails the test. The outputs of a call that was stopped are as they were left.
absl::StatusOr<std::vector<TestTensor>> RunKernel(Device& device, const OpCall& call,
                                                  const OpCase& op_case, const KernelTrial& trial);
// With all memory filled with `dirt`.
absl::StatusOr<std::vector<TestTensor>> RunKernel(Device& device, const OpCall& call,
                                                  const OpCase& op_case, std::byte dirt);

}  // namespace opserve::testing
