// Phase one of a program: a plan for each step, which steps run together, and where intermediate
// results lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "core/device/device.h"
#include "core/engine/plan/plan.h"
#include "core/engine/plan/program_stages.h"
#include "core/program/typed_program.h"

namespace opserve {

// Immutable; thread-safe.
class ProgramPlan {
 public:
  // Where a value's storage begins.
  struct Place {
    // kPiece: there is memory for a piece of it only, on the stack of the thread that makes it.
    enum class In : uint8_t { kNowhere, kInput, kOutput, kWorkspace, kPiece };
    In in = In::kNowhere;
    size_t at = 0;  // index of an input or output of the program; else bytes
  };
  struct Step {
    Plan plan;  // of its call, by itself
    absl::InlinedVector<Place, 4> inputs;
    absl::InlinedVector<Place, 2> outputs;
    // Of a step that runs in pieces: the inputs that its own chain makes.
    absl::InlinedVector<bool, 4> windowed;
    bool is_read_next = true;  // and whether its chain reads its output
    size_t scratch = 0;        // where the step's workspace is in the program's
    size_t control = 0;        // and its control memory
  };
  struct Constant {
    const TypedProgram::Value* value;
    size_t offset;  // in the workspace
  };

  // For `call`, a planned one of `program`. Errors name the step: UNIMPLEMENTED where the device
  // has no kernel for it; 161002 where the workspace's bound is below what any cut of the way back
  // into segments takes.
  static absl::StatusOr<std::shared_ptr<const ProgramPlan>> Make(
      const std::shared_ptr<const Program>& program, const OpCall& call, Device& device);

  // The calls of its steps are in the plans of the steps, not in it.
  const TypedProgram& program() const { return typed_; }
  const std::vector<Step>& steps() const { return steps_; }
  // All steps, in order.
  const std::vector<ProgramStage>& stages() const { return stages_; }
  const std::vector<Constant>& constants() const { return constants_; }
  // The peak of the intermediate results and the workspaces of steps, as memory is used again.
  size_t workspace_bytes() const { return workspace_bytes_; }
  size_t control_bytes() const { return control_bytes_; }  // the most of any stage
  // The bytes that the intermediate results would take if each had memory of its own.
  int64_t intermediate_bytes() const { return intermediate_bytes_; }
  const Cost& cost() const { return cost_; }
  // About what it takes of the host's memory.
  int64_t host_bytes() const;

 private:
  class Layout;
  ProgramPlan() = default;
  static absl::StatusOr<std::shared_ptr<const ProgramPlan>> MakeInSegments(
      std::shared_ptr<const Program> program, const OpCall& call, size_t segments, Device& device);

  std::shared_ptr<const Program> source_;  // calls point at it: it is their operator
  TypedProgram typed_;
  std::vector<Step> steps_;
  std::vector<ProgramStage> stages_;
  std::vector<Constant> constants_;
  size_t workspace_bytes_ = 0;
  size_t control_bytes_ = 0;
  int64_t intermediate_bytes_ = 0;
  Cost cost_;
};

}  // namespace opserve
