// How the kernels of CtcLoss and CtcLossBackward cut their work and lay out their memory, from
// shapes and lengths alone; and the labels, which only phase two sees.
//
// Labels say which class is read and written, and the loss of a sample says whether it has a
// recursion: both are read once and kept in control memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "core/device/kernel.h"
#include "core/op/op_call.h"

namespace opserve::cpu {

// What a loop does for each label, as Pace counts it: looks something up; takes exponentials and
// logarithms. And what a step or a sample takes besides.
inline constexpr int64_t kLabelCost = 2;
inline constexpr int64_t kLatticeCost = 8;
inline constexpr int64_t kStepCost = 64;

struct CtcPlan {
  int64_t t = 0;
  int64_t n = 0;
  int64_t c = 0;
  // Elements of a scratch row: one a label (or blank) of the longest target, and room for a vector
  // before and after.
  int64_t row = 0;
  // Samples are shared out in this many chunks, each with its own scratch.
  int64_t chunks = 0;
  // Backward, few samples: threads share the classes of a sample's steps, after one has done its
  // recursion.
  bool split = false;

  // Control memory: offsets in bytes, and all of it.
  size_t labels = 0;  // int64, the samples' labels one after another
  size_t starts = 0;  // int64, where each sample's labels begin
  size_t losses = 0;  // backward: double, neg_log_likelihood of each sample
  size_t control_bytes = 0;

  // Workspace: likewise.
  size_t rows = 0;        // each chunk's scratch rows
  size_t classes = 0;     // backward: C elements for each chunk of samples, or of steps where split
  size_t posteriors = 0;  // split: what the recursion found, (N, T, longest target + 1)
  size_t bytes = 0;

  int64_t posterior_row = 0;  // elements
  int64_t step_chunks = 0;    // split: chunks of steps of a sample

  // Of a sample besides its steps.
  int64_t SampleCost() const { return kStepCost + kLatticeCost * row; }
  int64_t FirstSample(int64_t chunk) const { return n * chunk / chunks; }
  int64_t FirstStep(int64_t chunk) const { return t * chunk / step_chunks; }
};

// Elements before the first of a scratch row; more than a vector has lanes.
inline constexpr int64_t kRowMargin = 16;
inline constexpr int64_t kForwardRows = 4;
inline constexpr int64_t kBackwardRows = 7;

CtcPlan PlanCtcLoss(const OpCall& call);
CtcPlan PlanCtcLossBackward(const OpCall& call);

// Copies the labels of all samples to the control memory: 161002 when one is not a whole number in
// [0, C). OK, and not all of them, when the call was stopped.
absl::Status ReadLabels(const KernelArgs& args, const CtcPlan& plan, int targets);

}  // namespace opserve::cpu
