#include "tests/support/log_softmax.h"

#include <cmath>

namespace opserve::testing {

TestTensor LogSoftmax(DType dtype, const Dims& shape, const std::vector<double>& logits) {
  std::vector<double> values = logits;
  const auto classes = static_cast<size_t>(shape.back());
  for (size_t row = 0; row < values.size(); row += classes) {
    double sum = 0;
    for (size_t c = row; c < row + classes; ++c) sum += std::exp(values[c]);
    for (size_t c = row; c < row + classes; ++c) values[c] -= std::log(sum);
  }
  return TestTensor::Of(dtype, shape, values);
}

}  // namespace opserve::testing
