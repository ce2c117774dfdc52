// What a model gives CtcLoss.
#pragma once

#include <vector>

#include "tests/support/test_tensor.h"

namespace opserve::testing {

// log_softmax of `logits` over the last dimension, in double, then rounded to `dtype`.
TestTensor LogSoftmax(DType dtype, const Dims& shape, const std::vector<double>& logits);

}  // namespace opserve::testing
