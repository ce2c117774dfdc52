// Maps over tensors that are no line but made of long rows: each row has the bits of a call on it
// alone.
#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/calls.h"
#include "tests/support/seed.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

constexpr DType kDTypes[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16};

// Around what a row is at least, and longer than a tile.
constexpr int64_t kLengths[] = {255, 256, 257, 1003, 4500};

std::vector<double> Part(const std::vector<double>& values, int64_t begin, int64_t count) {
  return {values.begin() + begin, values.begin() + begin + count};
}

TEST(RowsTest, HalvesOfRowsAreThoseOfEachRow) {
  constexpr int64_t kRows = 3;
  Rng rng = MakeRng(61);
  for (const DType dtype : kDTypes) {
    for (const int64_t half : kLengths) {
      SCOPED_TRACE(::testing::Message() << DTypeName(dtype) << " " << half);
      const TestTensor grad = TestTensor::Random(dtype, {kRows, half}, rng);
      const TestTensor self = TestTensor::Random(dtype, {kRows, 2 * half}, rng);
      const auto whole = FirstOutput(CallOf("GluBackward", {grad, self}, {int64_t{1}}));
      ASSERT_THAT(whole, IsOk());
      for (int64_t row = 0; row < kRows; ++row) {
        const TestTensor g = TestTensor::Of(dtype, {half}, Part(grad.Values(), row * half, half));
        const TestTensor x =
            TestTensor::Of(dtype, {2 * half}, Part(self.Values(), 2 * row * half, 2 * half));
        EXPECT_EQ(*FirstOutput(CallOf("GluBackward", {g, x}, {int64_t{0}})),
                  Part(*whole, 2 * row * half, 2 * half));
      }
    }
  }
}

TEST(RowsTest, ChannelsAreThoseOfTheirOwnWeight) {
  constexpr int64_t kBatch = 2;
  constexpr int64_t kChannels = 3;
  Rng rng = MakeRng(62);
  const std::vector<double> weights = {-0.5, 0.25, 3};
  for (const DType dtype : kDTypes) {
    for (const int64_t length : kLengths) {
      SCOPED_TRACE(::testing::Message() << DTypeName(dtype) << " " << length);
      const Dims shape = {kBatch, kChannels, length};
      const TestTensor self = TestTensor::Random(dtype, shape, rng);
      const TestTensor grad = TestTensor::Random(dtype, shape, rng);
      const TestTensor weight = TestTensor::Of(dtype, {kChannels}, weights);
      const auto whole = FirstOutput(CallOf("Prelu", {self, weight}, {}));
      ASSERT_THAT(whole, IsOk());
      const auto gradient = FirstOutput(CallOf("PreluBackward", {grad, self, weight}, {}));
      ASSERT_THAT(gradient, IsOk());
      for (int64_t i = 0; i < kBatch * kChannels; ++i) {
        const auto part = [&](const std::vector<double>& values) {
          return Part(values, i * length, length);
        };
        const TestTensor x = TestTensor::Of(dtype, {length}, part(self.Values()));
        const TestTensor g = TestTensor::Of(dtype, {length}, part(grad.Values()));
        const TestTensor w =
            TestTensor::Of(dtype, {1}, {weights[static_cast<size_t>(i % kChannels)]});
        EXPECT_EQ(*FirstOutput(CallOf("Prelu", {x, w}, {})), part(*whole));
        EXPECT_EQ(*FirstOutput(CallOf("PreluBackward", {g, x, w}, {})), part(*gradient));
      }
    }
  }
}

// Rows that are not of the tiles' dtype go through tiles.
TEST(RowsTest, RowsOfAnotherDTypeAreConverted) {
  constexpr int64_t kLength = 3000;
  Rng rng = MakeRng(63);
  const TestTensor self = TestTensor::Random(DType::kBFloat16, {2, kLength}, rng);
  const TestTensor other = TestTensor::Random(DType::kFloat32, {kLength}, rng);
  const auto product = FirstOutput(CallOf("Mul", {self, other}, {}));
  ASSERT_THAT(product, IsOk());
  const std::vector<double> x = self.Values();
  const std::vector<double> y = other.Values();
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ((*product)[i], static_cast<double>(static_cast<float>(x[i] * y[i % kLength]))) << i;
}

}  // namespace
}  // namespace opserve::testing
