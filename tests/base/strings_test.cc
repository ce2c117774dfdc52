#include "core/base/strings.h"

#include <string_view>
#include <vector>

#include "gtest/gtest.h"

namespace opserve {
namespace {

TEST(StringsTest, EditDistanceCountsSlips) {
  EXPECT_EQ(EditDistance("", "abc"), 3u);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3u);
  EXPECT_EQ(EditDistance("slef", "self"), 1u);  // a swap
}

TEST(StringsTest, TheNearestNameIsFoundWhenItIsNear) {
  const std::vector<std::string_view> names = {"grad_out", "self", "target"};
  EXPECT_EQ(NearestMatch("slef", names), "self");
  EXPECT_EQ(NearestMatch("gradOut", names), "grad_out");
  EXPECT_EQ(NearestMatch("targets", names), "target");
  EXPECT_EQ(NearestMatch("weight", names), "");
  EXPECT_EQ(NearestMatch("", names), "");
}

TEST(DidYouMeanTest, EndsASentenceOnlyWhereANameIsNear) {
  const std::vector<std::string_view> names = {"mean", "sum"};
  EXPECT_EQ(DidYouMean("maen", names), "; did you mean \"mean\"?");
  EXPECT_EQ(DidYouMean("sun", names, '\''), "; did you mean 'sum'?");
  EXPECT_EQ(DidYouMean("everything", names), "");
}

}  // namespace
}  // namespace opserve
