#include "tests/bench/e2e/arrivals.h"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/strings.h"
#include "tests/support/seed.h"
#include "tests/support/status_matchers.h"

namespace opserve::bench {
namespace {

std::vector<PoissonArrivals::Arrival> AllOf(const std::vector<RatePhase>& phases, uint64_t seed) {
  PoissonArrivals arrivals(phases, seed);
  std::vector<PoissonArrivals::Arrival> all;
  while (const auto arrival = arrivals.Next()) all.push_back(*arrival);
  EXPECT_FALSE(arrivals.Next().has_value());
  return all;
}

TEST(RatePhasesTest, AreParsed) {
  const auto phases = ParseRatePhases("2000@2s,0.5@1m");
  ASSERT_THAT(phases, testing::IsOk());
  ASSERT_EQ(phases->size(), 2U);
  EXPECT_EQ((*phases)[0].per_second, 2000);
  EXPECT_EQ((*phases)[0].duration, absl::Seconds(2));
  EXPECT_EQ((*phases)[1].per_second, 0.5);
  EXPECT_EQ((*phases)[1].duration, absl::Minutes(1));
}

TEST(RatePhasesTest, MistakesAreNamed) {
  for (const char* text : {"", "2000", "@2s", "2000@", "0@2s", "-1@2s", "nan@1s", "inf@1s", "1@0s",
                           "1@-1s", "1@inf", "1@1s,", "1@2", "x@1s"}) {
    const auto phases = ParseRatePhases(text);
    ASSERT_FALSE(phases.ok()) << text;
    EXPECT_NE(ToStd(phases.status().message()).find("--rate: want"), std::string::npos) << text;
  }
}

TEST(PoissonArrivalsTest, AreInOrderInsideTheirPhases) {
  const std::vector<RatePhase> phases = {{1000, absl::Seconds(2)}, {50, absl::Seconds(3)}};
  absl::Duration before;
  for (const auto& arrival : AllOf(phases, testing::TestSeed())) {
    EXPECT_GE(arrival.at, before);
    EXPECT_EQ(arrival.phase, arrival.at < absl::Seconds(2) ? 0U : 1U);
    EXPECT_LT(arrival.at, absl::Seconds(5));
    before = arrival.at;
  }
}

// Counts of a Poisson process: mean and variance are both rate times time. Six sigmas of slack.
TEST(PoissonArrivalsTest, CountsHaveTheirMeanAndVariance) {
  constexpr double kRate = 200;
  constexpr int kSeconds = 500;
  std::vector<double> counts(kSeconds, 0);
  for (const auto& arrival : AllOf({{kRate, absl::Seconds(kSeconds)}}, testing::TestSeed()))
    ++counts[static_cast<size_t>(absl::ToDoubleSeconds(arrival.at))];
  double mean = 0, variance = 0;
  for (const double count : counts) mean += count / kSeconds;
  for (const double count : counts) variance += (count - mean) * (count - mean) / (kSeconds - 1);
  EXPECT_NEAR(mean, kRate, 6 * std::sqrt(kRate / kSeconds));
  EXPECT_NEAR(variance / kRate, 1, 6 * std::sqrt(2.0 / kSeconds));
}

// The gap that spans a change of rate belongs to both rates, so that no phase starts with a
// silence.
TEST(PoissonArrivalsTest, RatesChangeAtOnce) {
  const std::vector<RatePhase> phases = {{0.001, absl::Seconds(1)}, {10'000, absl::Seconds(1)}};
  const auto all = AllOf(phases, testing::TestSeed());
  EXPECT_NEAR(static_cast<double>(all.size()), 10'000, 6 * 100);
  ASSERT_FALSE(all.empty());
  EXPECT_LT(all.back().at - all.front().at, absl::Seconds(2));
}

TEST(PoissonArrivalsTest, SeedsDecide) {
  const std::vector<RatePhase> phases = {{100, absl::Seconds(1)}};
  const auto one = AllOf(phases, 1), again = AllOf(phases, 1), other = AllOf(phases, 2);
  ASSERT_EQ(one.size(), again.size());
  for (size_t i = 0; i < one.size(); ++i) EXPECT_EQ(one[i].at, again[i].at);
  EXPECT_NE(one.front().at, other.front().at);
}

}  // namespace
}  // namespace opserve::bench
