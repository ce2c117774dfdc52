// GroupNorm and its kin, which differ in what a group is and in what its elements are measured
// with: one machinery for all of them. Each operator says what its call is (NormCall,
// NormGradientCall); the rest follows from that.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "core/device/kernel.h"
#include "core/op/op_call.h"

namespace opserve::cpu {

// out = (x − mean)·rstd·γ + β.
enum class NormKind : uint8_t {
  kCentered,    // mean and rstd = 1/√(variance + ε) are those of the group
  kMeanSquare,  // mean is 0, rstd = 1/√(mean of the squares + ε)
  kFixed,       // mean and variance are given: the same whatever x is
};

// The data as (N, C, HxW), in row-major order whatever the shape: channel c of batch n is row
// n·C + c. Group g of batch n is group n·group + g, C/group rows one after another.
struct NormShape {
  int64_t n = 0;
  int64_t c = 0;
  int64_t hw = 0;
  int64_t group = 0;
};

// The last `normalized` dimensions of `data` are a group each, of channels that are one element.
NormShape RowsOf(const TensorDesc& data, size_t normalized);

// An input or output of the call, or a view of it; by default one that is not there.
struct NormTensor {
  int index = -1;
  TensorDesc desc;

  bool given() const { return index >= 0; }
};

// Not there where it was not given, or is not wanted.
inline NormTensor NormInput(const OpCall& call, int input) {
  return call.has_input(input) ? NormTensor{input, call.input(input)} : NormTensor();
}
inline NormTensor NormOutput(const OpCall& call, int output) {
  return call.output(output).wanted ? NormTensor{output, call.output(output).desc} : NormTensor();
}

// Parameters and statistics have dtypes of their own; x and out share one.
struct NormCall {
  NormShape shape;
  NormKind kind = NormKind::kCentered;
  double eps = 0;

  NormTensor x;
  NormTensor gamma = {};  // of each channel; 1 where it is not there
  NormTensor beta = {};   // likewise; 0
  NormTensor out;
  NormTensor mean_out = {};  // of each group; kFixed: of each group of the first batch
  NormTensor rstd_out = {};

  // kFixed: of each group.
  NormTensor mean = {};
  NormTensor variance = {};

  // Where the outputs are there: (1 − momentum)·what was + momentum·what is, of each group. The
  // variance is that without bias.
  double momentum = 0;
  NormTensor running_mean = {};
  NormTensor running_variance = {};
  NormTensor running_mean_out = {};
  NormTensor running_variance_out = {};
};

struct NormGradientCall {
  NormShape shape;
  NormKind kind = NormKind::kCentered;

  NormTensor dy;
  NormTensor x;
  NormTensor mean = {};  // of each group, as given; 0 where it is not there
  NormTensor rstd;       // kFixed: the variance
  NormTensor gamma = {};
  NormTensor dx;
  NormTensor dgamma;  // of each channel
  NormTensor dbeta = {};

  double eps = 0;  // kFixed
};

size_t NormWorkspace(const NormCall& call);
void RunNorm(const KernelArgs& args, const NormCall& call);
size_t NormWorkspace(const NormGradientCall& call);
void RunNorm(const KernelArgs& args, const NormGradientCall& call);

// The kernel of an operator of which `CallOf` says what a call is.
template <auto CallOf>
constexpr Kernel NormKernel() {
  return {.workspace_bytes = [](const OpCall& call) { return NormWorkspace(CallOf(call)); },
          .execute =
              [](const KernelArgs& args) {
                RunNorm(args, CallOf(args.call));
                return absl::OkStatus();
              }};
}

}  // namespace opserve::cpu
