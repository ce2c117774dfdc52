#include "core/base/clock.h"

#include <gtest/gtest.h>

#include "absl/time/clock.h"
#include "tests/support/wall_clock.h"

namespace opserve {
namespace {

using testing::WallClockJump;

TEST(RealClockTest, BeginsAsTheWallClock) {
  EXPECT_LT(absl::AbsDuration(Clock::Real().Now() - absl::Now()), absl::Minutes(1));
}

TEST(RealClockTest, IsNotMovedByWhoSetsTheWallClock) {
  for (const absl::Duration jump : {absl::Hours(1), -absl::Hours(1)}) {
    const absl::Time before = Clock::Real().Now();
    const absl::Time wall = absl::Now();
    const WallClockJump jumped(jump);
    EXPECT_GT(absl::AbsDuration(absl::Now() - wall), absl::Minutes(50));
    const absl::Duration passed = Clock::Real().Now() - before;
    EXPECT_GE(passed, absl::ZeroDuration());
    EXPECT_LT(passed, absl::Minutes(1));
  }
}

}  // namespace
}  // namespace opserve
