// How MaxPool2dWithIndicesBackward cuts its work and lays out its workspace, and the check of its
// indices.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "core/backends/cpu/plane_axis.h"
#include "core/device/kernel.h"

namespace opserve::cpu {

// Planes are cut into at most 64 runs, each with a plane of floats as scratch memory, for outputs
// in whose own memory the sums cannot be made.
struct MaxPoolGradientPlan {
  PlaneShape in;   // of the forward: what is made
  PlaneShape out;  // its output: what comes in
  int64_t chunks;
  size_t planes = 0;  // offset in the workspace
  size_t bytes = 0;   // of the workspace

  explicit MaxPoolGradientPlan(const OpCall& call);
  // Floats from one plane of scratch memory to the next.
  int64_t stride() const { return (in.area() + 15) / 16 * 16; }
  int64_t FirstPlane(int64_t chunk) const {
    return in.planes / chunks * chunk + std::min(chunk, in.planes % chunks);
  }
};

// Every index (input 2) is that of an element of a plane, or −1: of a window without elements.
absl::Status CheckPoolIndices(const KernelArgs& args, const MaxPoolGradientPlan& plan);

}  // namespace opserve::cpu
