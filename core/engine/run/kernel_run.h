// What all paths to a kernel have in common. Of the engine only.
#pragma once

#include <span>

#include "core/base/op_error.h"
#include "core/engine/plan/kernel_plan.h"

namespace opserve {

// Phase two, on memory that was checked: where a kernel finds its tensors and its scratch memory.
// It may be run again with other tensors. The plan must outlive it.
class KernelRun {
 public:
  explicit KernelRun(const Plan& plan)
      : plan_(plan), inputs_(plan.call.inputs.size()), outputs_(plan.call.outputs.size()) {}

  // `start_of(i)`: the device's address of input i's storage, of each input that is given; nullptr
  // where there are no bytes.
  template <typename StartOf>
  void SetInputs(const StartOf& start_of) {
    for (size_t i = 0; i < inputs_.size(); ++i)
      if (plan_.call.inputs[i].has_value()) inputs_[i] = OrNothing(start_of(i));
  }
  // Likewise, of each output that is wanted.
  template <typename StartOf>
  void SetOutputs(const StartOf& start_of) {
    for (size_t i = 0; i < outputs_.size(); ++i)
      if (plan_.call.outputs[i].wanted) outputs_[i] = OrNothing(start_of(i));
  }

  // Workspace and control memory of its own. RESOURCE_EXHAUSTED.
  absl::Status LeaseScratch(ClientId client = ClientId::kNone);
  // Or somebody's ScratchBytes, 64-byte aligned.
  void SetScratch(std::byte* start);
  // Or each by itself.
  void SetScratch(std::byte* workspace, std::byte* control);

  // Nothing where `workers` are stopped.
  absl::Status Run(const Workers& workers, ElementRange range = {},
                   std::span<const bool> windowed = {}) const;

 private:
  // Tensors without bytes have an address, which kernels may form but not follow.
  template <typename Byte>
  static Byte* OrNothing(Byte* start) {
    return start == nullptr ? nothing_ : start;
  }
  alignas(64) static inline std::byte nothing_[64];

  const Plan& plan_;
  absl::InlinedVector<const std::byte*, 4> inputs_;
  absl::InlinedVector<std::byte*, 4> outputs_;
  PooledBuffer scratch_;
  std::span<std::byte> workspace_;
  std::span<std::byte> control_;
};

// Runs `work` with workers of the device while `goes_on()` says OK: it is asked between their
// chunks, by any thread. Its error stops them, and is what this fails with.
template <typename GoesOn, typename Work>
absl::Status RunWhile(Device& device, const GoesOn& goes_on, const Work& work) {
  const auto stop = [&] { return !goes_on().ok(); };
  const Workers workers(device.workers(), stop);
  absl::Status status = work(workers);
  if (!status.ok() || !workers.stopped()) return status;
  status = goes_on();
  // It was not in time when it was stopped; somebody has set the clock back.
  return status.ok() ? MakeError({.reason = ErrorReason::kDeadlineExceeded}) : status;
}

}  // namespace opserve
