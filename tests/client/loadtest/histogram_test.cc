#include "client/loadtest/figures/histogram.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/seed.h"

namespace opserve::loadtest {
namespace {

TEST(HistogramTest, EmptyHasZeros) {
  const auto histogram = std::make_unique<Histogram>();
  EXPECT_EQ(histogram->count(), 0);
  EXPECT_EQ(histogram->mean(), absl::ZeroDuration());
  EXPECT_EQ(histogram->Quantile(0.5), absl::ZeroDuration());
}

TEST(HistogramTest, OneValueIsEveryQuantile) {
  for (const int64_t nanoseconds : {int64_t{0}, int64_t{1}, int64_t{255}, int64_t{256},
                                    int64_t{123'456'789}, int64_t{1} << 62}) {
    Histogram histogram;
    histogram.Record(absl::Nanoseconds(nanoseconds));
    for (const double fraction : {0.0, 0.5, 0.999, 1.0})
      EXPECT_EQ(histogram.Quantile(fraction), absl::Nanoseconds(nanoseconds)) << nanoseconds;
  }
}

TEST(HistogramTest, NegativeCountsAsZero) {
  Histogram histogram;
  histogram.Record(-absl::Seconds(1));
  EXPECT_EQ(histogram.count(), 1);
  EXPECT_EQ(histogram.max(), absl::ZeroDuration());
}

// Every quantile is at least the exact one and at most kRelativeError above it, from 1 ns to hours.
TEST(HistogramTest, QuantilesKeepTheirRelativeError) {
  std::mt19937_64 random(testing::TestSeed());
  std::uniform_real_distribution<double> exponent(0, 44);
  Histogram histogram;
  std::vector<int64_t> exact;
  for (int i = 0; i < 20'000; ++i) {
    exact.push_back(static_cast<int64_t>(std::exp2(exponent(random))));
    histogram.Record(absl::Nanoseconds(exact.back()));
  }
  std::sort(exact.begin(), exact.end());
  for (const double fraction : {0.001, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1.0}) {
    const auto rank = static_cast<size_t>(std::ceil(fraction * 20'000)) - 1;
    const auto want = static_cast<double>(exact[rank]);
    const auto got = static_cast<double>(absl::ToInt64Nanoseconds(histogram.Quantile(fraction)));
    EXPECT_GE(got, want) << fraction;
    EXPECT_LE(got, want * (1 + Histogram::kRelativeError)) << fraction;
  }
}

TEST(HistogramTest, MergeIsRecordingBoth) {
  Histogram one, other, both;
  for (int i = 1; i <= 100; ++i) {
    (i % 3 == 0 ? one : other).Record(absl::Microseconds(i * i));
    both.Record(absl::Microseconds(i * i));
  }
  one.Merge(other);
  EXPECT_EQ(one.count(), 100);
  EXPECT_EQ(one.mean(), both.mean());
  EXPECT_EQ(one.max(), both.max());
  EXPECT_EQ(one.Quantile(0.37), both.Quantile(0.37));
}

TEST(HistogramTest, BucketsHoldEverythingInOrder) {
  Histogram histogram;
  for (int i = 1; i <= 1000; ++i) histogram.Record(absl::Microseconds(i));
  int64_t count = 0;
  absl::Duration last;
  histogram.ForEachBucket(8, [&](absl::Duration top, int64_t in_bucket) {
    EXPECT_GT(top, last);
    EXPECT_GT(in_bucket, 0);
    // As many lie up to here as buckets said.
    count += in_bucket;
    EXPECT_NEAR(static_cast<double>(count), std::min(1000.0, absl::ToDoubleMicroseconds(top)), 1);
    last = top;
  });
  EXPECT_EQ(count, 1000);
  histogram.Reset();
  EXPECT_EQ(histogram.count(), 0);
  EXPECT_EQ(histogram.max(), absl::ZeroDuration());
  histogram.ForEachBucket(8, [](absl::Duration, int64_t) { ADD_FAILURE() << "it is empty"; });
}

TEST(HistogramTest, ThreadsLoseNothing) {
  Histogram histogram;
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&histogram, t] {
      for (int i = 0; i < 10'000; ++i) histogram.Record(absl::Nanoseconds(t * 10'000 + i));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(histogram.count(), 40'000);
  EXPECT_EQ(histogram.max(), absl::Nanoseconds(39'999));
  EXPECT_EQ(histogram.mean(), absl::Nanoseconds(39'999) / 2);
}

}  // namespace
}  // namespace opserve::loadtest
