#include "core/tensor/shape.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace opserve {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

TEST(ShapeTest, CountsWithoutOverflow) {
  EXPECT_EQ(NumElements(Dims{}), 1);
  EXPECT_EQ(NumElements(Dims{4, 2}), 8);
  EXPECT_EQ(NumElements(Dims{int64_t{1} << 32, int64_t{1} << 31}), std::nullopt);
  EXPECT_EQ(NumElements(Dims{int64_t{1} << 62, int64_t{1} << 62, 0}), 0);
}

TEST(ShapeTest, DenseStrides) {
  EXPECT_THAT(DenseStrides(Dims{2, 3, 4}), ElementsAre(12, 4, 1));
  EXPECT_THAT(DenseStrides(Dims{}), ElementsAre());
  EXPECT_EQ(DenseStrides(Dims{0, int64_t{1} << 62, int64_t{1} << 62}).size(), 3u);
}

TEST(ShapeTest, BroadcastsLikeNumPy) {
  EXPECT_THAT(BroadcastShapes(Dims{4, 1}, Dims{3}), Optional(Dims{4, 3}));
  EXPECT_THAT(BroadcastShapes(Dims{}, Dims{2, 2}), Optional(Dims{2, 2}));
  EXPECT_THAT(BroadcastShapes(Dims{0, 1}, Dims{1, 5}), Optional(Dims{0, 5}));
  EXPECT_EQ(BroadcastShapes(Dims{0}, Dims{2}), std::nullopt);
  EXPECT_EQ(BroadcastShapes(Dims{3}, Dims{2}), std::nullopt);
  EXPECT_TRUE(BroadcastsTo(Dims{1}, Dims{0}));
  EXPECT_FALSE(BroadcastsTo(Dims{2, 3}, Dims{3}));
}

}  // namespace
}  // namespace opserve
