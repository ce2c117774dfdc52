// A tensor with its bytes, in any layout.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include "core/tensor/element.h"
#include "core/tensor/tensor_desc.h"
#include "tests/support/seed.h"

namespace opserve::testing {

class TestTensor {
 public:
  // Bytes that are in no element are 0xA5.
  explicit TestTensor(const TensorDesc& desc);

  // Dense, with these elements in row-major order.
  static TestTensor Of(DType dtype, const Dims& shape, const std::vector<double>& values);
  static TestTensor Full(DType dtype, const Dims& shape, double value);
  // Normally distributed times `scale`; integers are rounded from it. A long tensor repeats itself.
  static TestTensor Random(DType dtype, const Dims& shape, Rng& rng, double scale = 1.0);
  // Of either sign and every magnitude that matters to smooth functions, 2^-14 to 2^8; every 16th
  // is a NaN, infinite, zero, subnormal, or near the ends of the dtype.
  static TestTensor OfAllMagnitudes(DType dtype, const Dims& shape, Rng& rng);

  // The same elements in another layout.
  TestTensor WithLayout(const Dims& strides, int64_t storage_offset) const;
  // The innermost dimension outermost in memory, every element `spread` apart, an offset of 3.
  TestTensor Scattered(int64_t spread) const;

  const TensorDesc& desc() const { return desc_; }
  int64_t count() const { return count_; }
  const std::vector<std::byte>& bytes() const { return bytes_; }
  std::byte* data() { return bytes_.data(); }

  // Element at row-major position `i`.
  double At(int64_t i) const;
  void Set(int64_t i, const Number& number);
  std::vector<double> Values() const;
  // The bytes of all elements, in row-major order.
  std::vector<std::byte> DenseBytes() const;

 private:
  size_t ByteOffset(int64_t i) const;

  TensorDesc desc_;
  int64_t count_;
  bool is_dense_;
  std::vector<std::byte> bytes_;
};

// Strides in elements of a row-major position's coordinates.
int64_t OffsetOf(const Dims& shape, const Dims& strides, int64_t position);

// The same for all positions, one after the other; much faster.
template <typename Visitor>
void ForEachOffset(const Dims& shape, const Dims& strides, Visitor visit) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return;
  Dims at(shape.size(), 0);
  int64_t offset = 0;
  for (size_t d = 1; d > 0;) {
    visit(offset);
    for (d = shape.size(); d > 0; --d) {
      offset += strides[d - 1];
      if (++at[d - 1] < shape[d - 1]) break;
      offset -= strides[d - 1] * shape[d - 1];
      at[d - 1] = 0;
    }
  }
}

// The elements of `tensor`, broadcast to `shape`, in row-major order.
std::vector<double> BroadcastValues(const TestTensor& tensor, const Dims& shape);

}  // namespace opserve::testing
