// The windows that pooling operators move over planes, along one axis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace opserve {

// Of lists of ints that an operator has for height and width: a single int is for both.
inline int64_t AlongAxis(const std::vector<int64_t>& list, size_t axis) {
  return list[list.size() == 1 ? 0 : axis];
}

// All below 2^31, kernel, stride and dilation at least 1, padding at most half of kernel: then no
// arithmetic on these overflows.
struct PlaneWindow {
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t padding = 0;
  int64_t dilation = 1;

  // An empty list of strides stands for those of `kernel`.
  static PlaneWindow Along(size_t axis, const std::vector<int64_t>& kernel,
                           const std::vector<int64_t>& stride,
                           const std::vector<int64_t>& padding) {
    return {AlongAxis(kernel, axis), AlongAxis(stride.empty() ? kernel : stride, axis),
            AlongAxis(padding, axis)};
  }

  // Where the window of an output begins: in the padding, where negative.
  int64_t Begin(int64_t output) const { return output * stride - padding; }
  // Elements from a window's first to its last.
  int64_t reach() const { return dilation * (kernel - 1) + 1; }

  // How many windows an extent has: those that fit into it and its padding, and with `ceil_mode`
  // one more that juts out behind it, if it begins before. Less than 1 where none fits.
  int64_t Outputs(int64_t extent, bool ceil_mode) const {
    const int64_t room = extent + 2 * padding - reach() + (ceil_mode ? stride - 1 : 0);
    if (room < 0) return 0;
    const int64_t outputs = room / stride + 1;
    const bool begins_behind = ceil_mode && (outputs - 1) * stride >= extent + padding;
    return begins_behind ? outputs - 1 : outputs;
  }
};

}  // namespace opserve
