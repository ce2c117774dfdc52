#include "client/loadtest/load/mix.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/seed.h"

namespace opserve::loadtest {
namespace {

TEST(MixTest, EntriesComeAsOftenAsTheirWeightsSay) {
  Mix mix({{.weight = 1}, {.weight = 3}, {.weight = 6}}, testing::TestSeed());
  constexpr int kDraws = 100'000;
  double counts[3] = {};
  for (int i = 0; i < kDraws; ++i) ++counts[mix.Draw()];
  const double parts[] = {0.1, 0.3, 0.6};
  for (int i = 0; i < 3; ++i) {
    const double sigma = std::sqrt(kDraws * parts[i] * (1 - parts[i]));
    EXPECT_NEAR(counts[i], kDraws * parts[i], 6 * sigma) << i;
  }
}

TEST(MixTest, OneEntryIsAlwaysDrawn) {
  Mix mix({{.weight = 0.5}}, 1);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(mix.Draw(), 0U);
}

TEST(MixTest, SeedsDecide) {
  Mix one({{}, {}}, 1), again({{}, {}}, 1), other({{}, {}}, 2);
  int same = 0;
  for (int i = 0; i < 100; ++i) {
    const size_t drawn = one.Draw();
    EXPECT_EQ(drawn, again.Draw());
    same += static_cast<int>(drawn == other.Draw());
  }
  EXPECT_LT(same, 100);
}

}  // namespace
}  // namespace opserve::loadtest
