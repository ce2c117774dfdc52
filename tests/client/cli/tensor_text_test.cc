#include "client/cli/formats/tensor_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

namespace opserve::cli {
namespace {

std::string Text(const std::vector<float>& values, const std::vector<int64_t>& shape,
                 const TensorTextOptions& options = {}) {
  return TensorText(DType::kFloat32, shape, std::as_bytes(std::span(values)), options);
}

std::vector<float> Iota(size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

TEST(TensorTextTest, NamesTypes) {
  EXPECT_EQ(TypeText(DType::kFloat32, std::vector<int64_t>{4, 2}), "f32[4,2]");
  EXPECT_EQ(TypeText(DType::kBFloat16, {}), "bf16[]");
}

TEST(TensorTextTest, AlignsColumns) {
  EXPECT_EQ(Text({-1, 0, 10.5, 1}, {2, 2}), "[[  -1    0]\n [10.5    1]]");
}

TEST(TensorTextTest, WritesScalarsAndEmptyTensors) {
  EXPECT_EQ(Text({0.1f}, {}), "0.1");
  EXPECT_EQ(Text({}, {0}), "[]");
  EXPECT_EQ(Text({}, {3, 0, 2}), "[]");
}

TEST(TensorTextTest, NestsDimensions) {
  EXPECT_EQ(Text(Iota(8), {2, 2, 2}), "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]");
  EXPECT_EQ(Text(Iota(2), {1, 1, 2}), "[[[0 1]]]");
}

TEST(TensorTextTest, WritesSpecialNumbers) {
  EXPECT_EQ(Text({NAN, INFINITY, -INFINITY, -0.0f}, {4}), "[ nan  inf -inf   -0]");
}

TEST(TensorTextTest, BreaksLongRows) {
  EXPECT_EQ(Text(Iota(7), {7}, {.width = 8}), "[0 1 2 3\n 4 5 6]");
  EXPECT_EQ(Text(Iota(3), {3}, {.width = 1}), "[0\n 1\n 2]");
}

TEST(TensorTextTest, ShortensAboveTheThreshold) {
  EXPECT_EQ(Text(Iota(10), {10}, {.max_elements = 9}), "[0 1 2 … 7 8 9]");
  EXPECT_EQ(Text(Iota(10), {10}, {.max_elements = 10}), "[0 1 2 3 4 5 6 7 8 9]");
  EXPECT_EQ(Text(Iota(16), {8, 2}, {.max_elements = 9, .edge = 1}), "[[ 0  1]\n …\n [14 15]]");
  EXPECT_EQ(Text(Iota(6), {6}, {.max_elements = 5}), "[0 1 2 3 4 5]") << "nothing to leave out";
}

TEST(TensorTextTest, WritesOtherDTypes) {
  const uint8_t flags[] = {1, 0};
  EXPECT_EQ(TensorText(DType::kBool, std::vector<int64_t>{2}, std::as_bytes(std::span(flags)), {}),
            "[ true false]");
  const uint64_t large[] = {UINT64_MAX};
  EXPECT_EQ(
      TensorText(DType::kUint64, std::vector<int64_t>{1}, std::as_bytes(std::span(large)), {}),
      "[18446744073709551615]");
}

}  // namespace
}  // namespace opserve::cli
