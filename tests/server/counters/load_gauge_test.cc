#include "server/counters/load_gauge.h"

#include <gtest/gtest.h>

namespace opserve::server {
namespace {

constexpr int kCores = 4;
const absl::Time kStart = absl::FromUnixSeconds(1000);

TEST(LoadGaugeTest, RatesAreThoseOfTheLastWindow) {
  LoadGauge gauge(kCores);
  gauge.Look(kStart, {absl::Seconds(50), {1000, 10}}, absl::ZeroDuration());
  EXPECT_EQ(gauge.levels().calls_per_second, 0) << "nothing is known of a rate yet";
  gauge.Look(kStart + absl::Milliseconds(500), {absl::Seconds(51), {1900, 19}},
             absl::ZeroDuration());
  EXPECT_EQ(gauge.levels().calls_per_second, 0) << "the window is not over";
  gauge.Look(kStart + absl::Seconds(2), {absl::Seconds(54), {3000, 30}}, absl::ZeroDuration());
  EXPECT_DOUBLE_EQ(gauge.levels().cpu_utilization, 0.5);
  EXPECT_DOUBLE_EQ(gauge.levels().calls_per_second, 1000);
  EXPECT_DOUBLE_EQ(gauge.levels().failed_calls_per_second, 10);
  gauge.Look(kStart + absl::Seconds(3), {absl::Seconds(54), {3000, 30}}, absl::ZeroDuration());
  EXPECT_EQ(gauge.levels().cpu_utilization, 0);
  EXPECT_EQ(gauge.levels().calls_per_second, 0);
}

TEST(LoadGaugeTest, TheWaitIsThatOfTheLastLook) {
  LoadGauge gauge(kCores);
  gauge.Look(kStart, {}, absl::Milliseconds(7));
  EXPECT_EQ(gauge.levels().queue_wait, absl::Milliseconds(7));
  gauge.Look(kStart + absl::Milliseconds(1), {}, absl::Milliseconds(3));
  EXPECT_EQ(gauge.levels().queue_wait, absl::Milliseconds(3));
}

}  // namespace
}  // namespace opserve::server
