// What the tests of losses share whose targets are classes.
#pragma once

#include "tests/support/test_tensor.h"

namespace opserve::testing {

// Classes in [0, classes), a fifth of them `ignored`.
TestTensor Classes(DType dtype, const Dims& shape, int64_t classes, int64_t ignored, Rng& rng);

}  // namespace opserve::testing
