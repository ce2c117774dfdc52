// Phase one's answer: a checked call and where it runs.
#pragma once

#include <memory>
#include <utility>

#include "core/device/device.h"
#include "core/engine/plan/cost.h"

namespace opserve {

class ProgramPlan;

// A value; copy it freely while its engine lives.
struct Plan {
  OpCall call;
  absl::InlinedVector<int, 3>
      storages;  // of each input in schema order: index into OneShot::storages, or -1
  // For each output: index into OneShot::output_storages, or -1 for an output that the call makes.
  absl::InlinedVector<int, 1> output_storages;
  Device* device = nullptr;
  const Kernel* kernel = nullptr;
  std::shared_ptr<const ProgramPlan> program;  // in the kernel's place, of a program's call
  size_t workspace_bytes = 0;                  // the caller's to bring, where it wants to
  size_t control_bytes = 0;                    // KernelArgs::control: the engine's in any case
  Cost cost;

  // There is nothing to run (OpCall::makes_nothing).
  bool makes_nothing() const;
};

// A plan that many calls share because they differ only in their bytes. Copies share the plan. Not
// null once it was set.
class SharedPlan {
 public:
  SharedPlan() = default;
  explicit SharedPlan(Plan plan) : plan_(std::make_shared<const Plan>(std::move(plan))) {}
  SharedPlan& operator=(Plan plan) { return *this = SharedPlan(std::move(plan)); }

  const Plan& operator*() const { return *plan_; }
  const Plan* operator->() const { return plan_.get(); }

 private:
  std::shared_ptr<const Plan> plan_;
};

// About what it takes of the host's memory.
int64_t HostBytes(const Plan& plan);

// Whether Submit runs the call on the calling thread, unless its bytes take long to bring.
bool RunsInline(const Plan& plan);

// Whether the output is written to memory of the caller's.
bool IsInPlace(const Plan& plan, size_t output);

// The alignment of the storage, in bytes, that aligns the elements of all inputs that use it.
size_t StorageAlignment(const Plan& plan, size_t storage);

}  // namespace opserve
