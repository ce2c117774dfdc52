// Calls of the norms that normalize the last dimensions of a tensor.
#pragma once

#include <functional>
#include <vector>

#include "tests/support/operator_test.h"

namespace opserve::testing {

struct RowNormShape {
  Dims all;
  size_t normalized;  // how many of the last dimensions

  Dims Normalized() const {
    return Dims(all.end() - static_cast<ptrdiff_t>(normalized), all.end());
  }
  std::vector<int64_t> NormalizedList() const {
    return std::vector<int64_t>(all.end() - static_cast<ptrdiff_t>(normalized), all.end());
  }
  Dims Statistics() const {
    Dims shape = all;
    for (size_t i = 1; i <= normalized; ++i) shape[shape.size() - i] = 1;
    return shape;
  }
};

// Those of which errors are measured.
extern const std::vector<RowNormShape> kMeasuredRows;

// `make` for all shapes and dtypes, some turns each.
std::vector<OpCase> RowNormCases(
    const std::function<OpCase(const RowNormShape&, DType, int turn, Rng&)>& make, Rng& rng);

// A call that is not planned of so many rows, each of so many elements.
std::vector<LongCall> RowNormLongCalls(
    const std::function<OpCall(int64_t rows, int64_t elements)>& make);

}  // namespace opserve::testing
