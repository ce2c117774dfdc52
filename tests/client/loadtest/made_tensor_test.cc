#include "client/loadtest/calls/made_tensor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/tensor/element.h"
#include "tests/support/status_matchers.h"

namespace opserve::loadtest {
namespace {

using client::TensorView;

std::vector<double> ElementsOf(const TensorView& view) {
  std::vector<double> elements;
  for (size_t at = 0; at < view.storage.size(); at += DTypeSize(view.dtype))
    elements.push_back(LoadAsDouble(view.dtype, view.storage.data() + at));
  return elements;
}

absl::StatusOr<TensorView> Make(DType dtype, const std::vector<int64_t>& shape,
                                const ElementRange& range, uint64_t seed = 1) {
  return MakeTensor(dtype, shape, range, seed, 1 << 20);
}

TEST(MadeTensorTest, ElementsLieInTheirRangeAndReachItsEnds) {
  for (const DType dtype : {DType::kFloat32, DType::kBFloat16, DType::kInt64, DType::kUint8}) {
    const auto view = Make(dtype, {50, 40}, {2, 5});
    ASSERT_THAT(view, testing::IsOk());
    const std::vector<double> elements = ElementsOf(*view);
    ASSERT_EQ(elements.size(), 2000U);
    const auto [low, high] = std::minmax_element(elements.begin(), elements.end());
    EXPECT_GE(*low, 2);
    EXPECT_LE(*high, 5);
    EXPECT_LT(*low, 2.1);
    EXPECT_GT(*high, 4.9);
  }
}

TEST(MadeTensorTest, SeedsDecide) {
  const auto one = Make(DType::kFloat32, {100}, {-1, 1}, 7);
  const auto again = Make(DType::kFloat32, {100}, {-1, 1}, 7);
  const auto other = Make(DType::kFloat32, {100}, {-1, 1}, 8);
  EXPECT_EQ(ElementsOf(*one), ElementsOf(*again));
  EXPECT_NE(ElementsOf(*one), ElementsOf(*other));
}

TEST(MadeTensorTest, ScalarsAndEmptyOnesAreTensors) {
  EXPECT_EQ(Make(DType::kFloat32, {}, {0, 1})->storage.size(), 4U);
  EXPECT_EQ(Make(DType::kFloat32, {4, 0}, {0, 1})->storage.size(), 0U);
}

TEST(MadeTensorTest, WhatCannotBeIsRefused) {
  EXPECT_FALSE(Make(DType::kFloat32, {-1}, {0, 1}).ok());
  EXPECT_FALSE(Make(DType::kFloat32, {1 << 20}, {0, 1}).ok()) << "more than the bound";
  EXPECT_FALSE(Make(DType::kFloat32, {1ll << 62, 1ll << 62}, {0, 1}).ok());
  EXPECT_FALSE(Make(DType::kUint8, {8}, {0, 1000}).ok()) << "what the dtype does not hold";
  EXPECT_FALSE(Make(DType::kFloat32, {8}, {1, 0}).ok());
}

}  // namespace
}  // namespace opserve::loadtest
