// Outputs too large for a cache are written past it: the elements are the same.
#include <algorithm>
#include <cstring>

#include "core/backends/cpu/elementwise.h"
#include "gtest/gtest.h"
#include "tests/support/calls.h"
#include "tests/support/run.h"

namespace opserve::testing {
namespace {

class StreamingTest : public ::testing::TestWithParam<DType> {};

TEST_P(StreamingTest, BitsAreThoseOfASmallCall) {
  const DType dtype = GetParam();
  // Not a multiple of any vector, and a little over the bound.
  const auto element_bytes = static_cast<int64_t>(DTypeSize(dtype));
  const int64_t count = (int64_t{32} << 20) / element_bytes + 12345;
  ASSERT_TRUE(cpu::IsStreamed(count * element_bytes));
  Rng rng = MakeRng(7);
  // A pattern repeated: random numbers would take most of the time.
  const int64_t period = int64_t{64} * 1024;
  const TestTensor pattern = TestTensor::Random(dtype, {period}, rng);
  TestTensor self(TensorDesc::Dense(dtype, Dims{count}));
  for (int64_t i = 0; i < count; i += period) {
    std::memcpy(self.data() + i * element_bytes, pattern.bytes().data(),
                static_cast<size_t>(std::min(period, count - i) * element_bytes));
  }
  const auto call = [](const TestTensor& tensor) {
    return CallOf("HardshrinkBackward", {tensor, tensor}, {0.5});
  };
  const std::unique_ptr<Engine> engine = MakeEngine(2);
  const auto large = testing::Run(*engine, call(self));
  const auto small = testing::Run(*engine, call(pattern));
  ASSERT_TRUE(large.ok() && small.ok()) << large.status() << small.status();
  for (int64_t i = 0; i < count; i += period) {
    const auto bytes = static_cast<size_t>(std::min(period, count - i) * element_bytes);
    ASSERT_EQ(std::memcmp(large->front().bytes().data() + i * element_bytes,
                          small->front().bytes().data(), bytes),
              0)
        << "elements from " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(DTypes, StreamingTest,
                         ::testing::Values(DType::kFloat32, DType::kFloat16, DType::kBFloat16),
                         [](const auto& dtype) { return std::string(DTypeName(dtype.param)); });

}  // namespace
}  // namespace opserve::testing
