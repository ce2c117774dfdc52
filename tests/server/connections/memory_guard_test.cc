#include "server/connections/memory_guard.h"

#include <gtest/gtest.h>

#include "tests/server/connections/connection_pairs.h"
#include "tests/support/fake_clock.h"

namespace opserve::server {
namespace {

class MemoryGuardTest : public ::testing::Test {
 protected:
  MemoryGuard::System System() {
    return {.resident_bytes = [this] { return resident_; },
            .heap =
                [this] {
                  ++looks_;
                  clock_.Advance(time_of_a_look_);
                  return heap_;
                },
            .trim =
                [this] {
                  ++trims_;
                  resident_ -= freed_by_trim_;
                  freed_by_trim_ = 0;
                }};
  }

  void CheckFor(MemoryGuard& guard, absl::Duration time) {
    for (; time > absl::ZeroDuration(); time -= absl::Milliseconds(100)) {
      clock_.Advance(absl::Milliseconds(100));
      guard.Check();
    }
  }

  static constexpr int64_t kMiB = 1 << 20;
  testing::FakeClock clock_;
  ConnectionTable table_{{}, clock_};
  int64_t resident_ = 0;
  int64_t freed_by_trim_ = 0;
  MemoryGuard::Heap heap_;
  int looks_ = 0;
  absl::Duration time_of_a_look_ = absl::ZeroDuration();
  int trims_ = 0;
};

TEST_F(MemoryGuardTest, GivesFreeMemoryBackBeforeItCuts) {
  MemoryGuard guard(100 * kMiB, table_, clock_, System());
  TcpPair pair(table_);
  pair.Send(2 * kMiB);
  resident_ = 150 * kMiB;
  freed_by_trim_ = 60 * kMiB;
  guard.Check();
  EXPECT_EQ(trims_, 1);
  EXPECT_FALSE(pair.IsCut());
}

TEST_F(MemoryGuardTest, CutsTheConnectionsWhoseRequestsTakeMost) {
  MemoryGuard guard(100 * kMiB, table_, clock_, System());
  TcpPair large(table_);
  TcpPair larger(table_);
  TcpPair small(table_);
  TcpPair busy(table_);
  large.Send(2 * kMiB);
  larger.Send(3 * kMiB);
  small.Send(kMiB / 2);
  busy.Send(4 * kMiB);
  busy.connection().NoteMessages(4 * kMiB);
  resident_ = 100 * kMiB;
  guard.Check();
  EXPECT_FALSE(larger.IsCut());
  // A sixteenth of the limit below it would be enough, and is more than there is.
  resident_ = 100 * kMiB + 1;
  guard.Check();
  EXPECT_TRUE(large.IsCut());
  EXPECT_TRUE(larger.IsCut());
  EXPECT_FALSE(small.IsCut());
  EXPECT_FALSE(busy.IsCut());
}

TEST_F(MemoryGuardTest, CutsNoMoreThanItMust) {
  MemoryGuard guard(16 * kMiB, table_, clock_, System());
  TcpPair large(table_);
  TcpPair larger(table_);
  large.Send(2 * kMiB);
  larger.Send(3 * kMiB);
  resident_ = 17 * kMiB;
  guard.Check();
  EXPECT_TRUE(larger.IsCut());
  EXPECT_FALSE(large.IsCut());
}

TEST_F(MemoryGuardTest, WithoutALimitNothingIsCut) {
  MemoryGuard guard(0, table_, clock_, System());
  TcpPair pair(table_);
  pair.Send(2 * kMiB);
  resident_ = 1'000'000 * kMiB;
  guard.Check();
  EXPECT_FALSE(pair.IsCut());
}

TEST_F(MemoryGuardTest, WhatWasNotUsedForSecondsIsGivenBackOnce) {
  MemoryGuard guard(0, table_, clock_, System());
  resident_ = 50 * kMiB;
  heap_ = {.used_bytes = 10 * kMiB, .free_bytes = 10 * kMiB};
  CheckFor(guard, absl::Seconds(20));
  EXPECT_EQ(trims_, 0);
  // In use, then free but used a moment ago, then free.
  heap_ = {.used_bytes = 510 * kMiB, .free_bytes = 10 * kMiB};
  resident_ = 550 * kMiB;
  CheckFor(guard, absl::Seconds(1));
  heap_ = {.used_bytes = 10 * kMiB, .free_bytes = 510 * kMiB};
  freed_by_trim_ = 500 * kMiB;
  CheckFor(guard, absl::Seconds(4));
  EXPECT_EQ(trims_, 0);
  CheckFor(guard, absl::Seconds(4));
  EXPECT_EQ(trims_, 1);
  // The heap counts it as free still.
  CheckFor(guard, absl::Seconds(60));
  EXPECT_EQ(trims_, 1);
}

// Of what was in use when memory was given back, too.
TEST_F(MemoryGuardTest, WhatIsFreedLaterIsGivenBackAsWell) {
  MemoryGuard guard(0, table_, clock_, System());
  resident_ = 600 * kMiB;
  heap_ = {.used_bytes = 300 * kMiB, .free_bytes = 300 * kMiB};
  freed_by_trim_ = 100 * kMiB;
  CheckFor(guard, absl::Seconds(10));
  EXPECT_EQ(trims_, 1);
  heap_ = {.used_bytes = 10 * kMiB, .free_bytes = 590 * kMiB};
  freed_by_trim_ = 450 * kMiB;
  CheckFor(guard, absl::Seconds(10));
  EXPECT_EQ(trims_, 2);
  EXPECT_EQ(resident_, 50 * kMiB);
}

// All who allocate wait meanwhile.
TEST_F(MemoryGuardTest, AHeapThatTakesLongToLookAtIsLookedAtSeldom) {
  MemoryGuard guard(0, table_, clock_, System());
  CheckFor(guard, absl::Seconds(10));
  EXPECT_EQ(looks_, 20);
  time_of_a_look_ = absl::Milliseconds(20);
  CheckFor(guard, absl::Seconds(1));  // the first that takes so long
  looks_ = 0;
  CheckFor(guard, absl::Seconds(40));
  EXPECT_EQ(looks_, 10);
}

TEST(RealMemoryTest, IsRead) {
  const MemoryGuard::System system = MemoryGuard::RealSystem();
  EXPECT_GT(system.resident_bytes(), 1 << 20);
  EXPECT_GE(system.heap().used_bytes, 0);
  system.trim();
}

}  // namespace
}  // namespace opserve::server
