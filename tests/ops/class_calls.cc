#include "tests/ops/class_calls.h"

#include <algorithm>

namespace opserve::testing {

TestTensor Classes(DType dtype, const Dims& shape, int64_t classes, int64_t ignored, Rng& rng) {
  TestTensor tensor = TestTensor::Full(dtype, shape, 0);
  if (dtype == DType::kUint8) classes = std::min<int64_t>(classes, 256);
  for (int64_t i = 0; i < tensor.count(); ++i) {
    const auto drawn = static_cast<int64_t>(rng() % static_cast<uint64_t>(5 * classes));
    tensor.Set(i, drawn >= 4 * classes ? ignored : drawn % classes);
  }
  return tensor;
}

}  // namespace opserve::testing
