// How the elements of planes (the last two dimensions of a tensor) go into the elements of others,
// along one axis: pooling by means, padding, resampling. Both axes together, and their transpose,
// are in planes-inl.h. From shapes and attributes alone.
#pragma once

#include <cstdint>

#include "core/op/plane_window.h"
#include "core/tensor/tensor_desc.h"

namespace opserve::cpu {

// The last `axes` dimensions of a tensor, as many times as the others have it. A row where `axes`
// is 1.
struct PlaneShape {
  int64_t planes = 0;
  int64_t height = 1;
  int64_t width = 0;

  PlaneShape(const TensorDesc& desc, size_t axes);
  int64_t area() const { return height * width; }
};

// An output is the sum of the inputs [begin, end), the first with a weight of its own.
struct AxisTaps {
  int64_t begin;
  int64_t end;
  double first;
  double rest;
};

struct AxisSpan {
  int64_t begin;
  int64_t end;
};

// Outputs, at most three runs of them, in order.
struct AxisSpans {
  AxisSpan spans[3] = {};
  int count = 0;

  void Add(int64_t begin, int64_t end) {
    if (begin < end) spans[count++] = {begin, end};
  }
  int64_t total() const {
    int64_t outputs = 0;
    for (int i = 0; i < count; ++i) outputs += spans[i].end - spans[i].begin;
    return outputs;
  }
  // The `first` of all to before the `last`.
  AxisSpans Part(int64_t first, int64_t last) const;
};

class PlaneAxis {
 public:
  // Means of windows: over all of a window that lies in the input and its padding, or over what
  // lies in the input.
  enum class Divisor : uint8_t { kWithPadding, kInputOnly };
  static PlaneAxis Mean(int64_t in, int64_t out, const PlaneWindow& window, Divisor divisor);
  // Sums of windows times `weight`.
  static PlaneAxis Sum(int64_t in, int64_t out, const PlaneWindow& window, double weight);
  // Means over windows that share the input out among `out`.
  static PlaneAxis Adaptive(int64_t in, int64_t out);
  // Outputs from −before on, beyond the input its border or its mirror image.
  static PlaneAxis Replicate(int64_t in, int64_t out, int64_t before);
  static PlaneAxis Reflect(int64_t in, int64_t out, int64_t before);
  // Resampling. A factor that is not positive stands for out / in.
  static PlaneAxis Nearest(int64_t in, int64_t out, double factor);
  static PlaneAxis Linear(int64_t in, int64_t out, double factor, bool align_corners);

  int64_t in() const { return in_; }
  int64_t out() const { return out_; }

  AxisTaps At(int64_t output) const;
  // The outputs that have inputs of [begin, end) among theirs; found soon where they are not far
  // from `near`, those of other inputs.
  AxisSpans OutputsOf(int64_t begin, int64_t end, const AxisSpans& near) const;
  // The inputs that `outputs` side by side take from, about.
  int64_t Reach(int64_t outputs) const;

 private:
  enum class Kind : uint8_t { kMean, kSum, kAdaptive, kReplicate, kReflect, kNearest, kLinear };
  PlaneAxis(Kind kind, int64_t in, int64_t out) : kind_(kind), in_(in), out_(out) {}

  // Whether resampling to the nearest repeats each input as often, whatever the factor: as PyTorch
  // has it.
  bool IsExact() const { return out_ == in_ || out_ == 2 * in_; }
  AxisTaps Window(int64_t output) const;
  AxisTaps Share(int64_t output) const;
  AxisTaps Interpolation(int64_t output) const;
  int64_t SingleInput(int64_t output) const;
  AxisSpans Windows(int64_t begin, int64_t end) const;
  AxisSpans Mirrored(int64_t begin, int64_t end) const;

  Kind kind_;
  int64_t in_;
  int64_t out_;
  PlaneWindow window_ = {};
  Divisor divisor_ = Divisor::kWithPadding;
  double weight_ = 1;
  int64_t before_ = 0;
  bool align_corners_ = false;
  float step_ = 1;         // nearest: as PyTorch has it
  double exact_step_ = 1;  // linear
};

}  // namespace opserve::cpu
