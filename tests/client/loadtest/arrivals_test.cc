#include "client/loadtest/figures/arrivals.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/strings.h"
#include "tests/support/seed.h"
#include "tests/support/status_matchers.h"

namespace opserve::loadtest {
namespace {

std::vector<Arrival> AllOf(const std::vector<RatePhase>& phases, uint64_t seed,
                           Spacing spacing = Spacing::kRandom) {
  Arrivals arrivals(phases, spacing, seed);
  std::vector<Arrival> all;
  while (const auto arrival = arrivals.Next()) all.push_back(*arrival);
  EXPECT_FALSE(arrivals.Next().has_value());
  return all;
}

TEST(RatePhasesTest, AreParsed) {
  const auto phases = ParseRatePhases("steps", "2000@2s,0.5@1m,0..50@10s");
  ASSERT_THAT(phases, testing::IsOk());
  ASSERT_EQ(phases->size(), 3U);
  EXPECT_EQ((*phases)[0].per_second, 2000);
  EXPECT_EQ((*phases)[0].duration, absl::Seconds(2));
  EXPECT_EQ((*phases)[1].per_second, 0.5);
  EXPECT_EQ((*phases)[1].duration, absl::Minutes(1));
  EXPECT_EQ((*phases)[1].last(), 0.5);
  EXPECT_EQ((*phases)[2].per_second, 0);
  EXPECT_EQ((*phases)[2].last(), 50);
}

TEST(RatePhasesTest, MistakesAreNamed) {
  for (const char* text :
       {"", "2000", "@2s", "2000@", "0@2s", "-1@2s", "nan@1s", "inf@1s", "1@0s", "1@-1s", "1@inf",
        "1@1s,", "1@2", "x@1s", "0..0@1s", "1..@1s", "1..x@1s"}) {
    const auto phases = ParseRatePhases("steps", text);
    ASSERT_FALSE(phases.ok()) << text;
    EXPECT_NE(ToStd(phases.status().message()).find("steps: want"), std::string::npos) << text;
  }
}

TEST(ArrivalsTest, AreInOrderInsideTheirPhases) {
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
TEST(ArrivalsTest, CountsHaveTheirMeanAndVariance) {
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
TEST(ArrivalsTest, RatesChangeAtOnce) {
  const std::vector<RatePhase> phases = {{0.001, absl::Seconds(1)}, {10'000, absl::Seconds(1)}};
  const auto all = AllOf(phases, testing::TestSeed());
  EXPECT_NEAR(static_cast<double>(all.size()), 10'000, 6 * 100);
  ASSERT_FALSE(all.empty());
  EXPECT_LT(all.back().at - all.front().at, absl::Seconds(2));
}

// Of a rate that grows from 0 to r in T seconds, the nth call comes when n = r * t * t / (2 * T).
TEST(ArrivalsTest, RampsGrowEvenly) {
  const auto all = AllOf({{0, absl::Seconds(10), 100}}, 1, Spacing::kEven);
  EXPECT_NEAR(static_cast<double>(all.size()), 500, 1);
  for (size_t n = 1; n < all.size(); ++n) {
    const double seconds = std::sqrt(static_cast<double>(n) * 2 * 10 / 100);
    EXPECT_NEAR(absl::ToDoubleSeconds(all[n].at), seconds, 1e-6) << n;
  }
}

TEST(ArrivalsTest, FallingRampsEnd) {
  const auto all = AllOf({{100, absl::Seconds(10), 0}}, testing::TestSeed());
  EXPECT_NEAR(static_cast<double>(all.size()), 500, 6 * std::sqrt(500));
  const auto in_first_half = std::count_if(
      all.begin(), all.end(), [](const Arrival& arrival) { return arrival.at < absl::Seconds(5); });
  EXPECT_NEAR(static_cast<double>(in_first_half), 375, 6 * std::sqrt(375));
}

TEST(ArrivalsTest, EvenOnesKeepTheirDistance) {
  const auto all = AllOf({{50, absl::Seconds(2)}}, 1, Spacing::kEven);
  ASSERT_EQ(all.size(), 100U);
  for (size_t n = 0; n < all.size(); ++n)
    EXPECT_NEAR(absl::ToDoubleSeconds(all[n].at), static_cast<double>(n) / 50, 1e-6);
}

TEST(RecordedArrivalsTest, AreRead) {
  const auto times = ReadRecordedArrivals("# seconds\n0\n0.5  # half\n\n 0.5\r\n2e0");
  ASSERT_THAT(times, testing::IsOk());
  EXPECT_EQ(*times, (std::vector<absl::Duration>{absl::ZeroDuration(), absl::Milliseconds(500),
                                                 absl::Milliseconds(500), absl::Seconds(2)}));
}

TEST(RecordedArrivalsTest, MistakesNameTheLine) {
  for (const auto& [text, line] :
       std::vector<std::pair<const char*, const char*>>{{"", "line 1"},
                                                        {"# none\n", "line 1"},
                                                        {"1\n0.5", "line 2"},
                                                        {"0\nx", "line 2"},
                                                        {"-1", "line 1"},
                                                        {"nan", "line 1"},
                                                        {"inf", "line 1"},
                                                        {"0\n1\n86401", "line 3"}}) {
    const auto times = ReadRecordedArrivals(text);
    ASSERT_FALSE(times.ok()) << text;
    EXPECT_NE(ToStd(times.status().message()).find(line), std::string::npos) << times.status();
  }
}

TEST(ArrivalsTest, SeedsDecide) {
  const std::vector<RatePhase> phases = {{100, absl::Seconds(1)}};
  const auto one = AllOf(phases, 1), again = AllOf(phases, 1), other = AllOf(phases, 2);
  ASSERT_EQ(one.size(), again.size());
  for (size_t i = 0; i < one.size(); ++i) EXPECT_EQ(one[i].at, again[i].at);
  EXPECT_NE(one.front().at, other.front().at);
}

}  // namespace
}  // namespace opserve::loadtest
