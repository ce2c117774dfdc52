#include "server/transport/unary/deadline.h"

#include <gtest/gtest.h>

#include "tests/server/held_worker.h"
#include "tests/server/pending_call.h"
#include "tests/server/requests.h"
#include "tests/server/test_server.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/wall_clock.h"

namespace opserve {
namespace {

using server::OnClock;
using server::TimeFromNow;
using testing::FakeClock;
using testing::WallClockJump;

constexpr absl::Duration kPatience = absl::Minutes(1);  // of a test, on a busy machine

gpr_timespec SecondsFromNow(gpr_clock_type type, int64_t seconds) {
  return gpr_time_add(gpr_now(type), gpr_time_from_seconds(seconds, GPR_TIMESPAN));
}

TEST(DeadlineTest, HasAsMuchTimeLeftOnAnyClock) {
  const FakeClock clock;
  for (const gpr_clock_type type : {GPR_CLOCK_MONOTONIC, GPR_CLOCK_REALTIME}) {
    for (const int64_t seconds : {3600, 60, 0, -3600}) {
      const absl::Duration left = OnClock(SecondsFromNow(type, seconds), clock) - clock.Now();
      EXPECT_LE(left, absl::Seconds(seconds)) << type;
      EXPECT_GT(left, absl::Seconds(seconds) - kPatience) << type;
    }
  }
}

TEST(DeadlineTest, InfinityStaysInfinity) {
  for (const gpr_clock_type type : {GPR_CLOCK_MONOTONIC, GPR_CLOCK_REALTIME})
    EXPECT_EQ(OnClock(gpr_inf_future(type), FakeClock()), absl::InfiniteFuture());
  EXPECT_EQ(OnClock(TimeFromNow(absl::InfiniteDuration()), FakeClock()), absl::InfiniteFuture());
}

TEST(DeadlineTest, LastsWhateverTheWallClockDoes) {
  const FakeClock clock;
  for (const absl::Duration jump : {absl::Hours(2), -absl::Hours(2)}) {
    const gpr_timespec deadline = TimeFromNow(absl::Hours(1));
    const WallClockJump jumped(jump);
    const absl::Duration left = OnClock(deadline, clock) - clock.Now();
    EXPECT_LE(left, absl::Hours(1));
    EXPECT_GT(left, absl::Hours(1) - kPatience);
  }
}

class WallClockTest : public testing::ServerTest {
 protected:
  static constexpr int64_t kLarge = 1 << 20;  // waits for a worker
  static constexpr int kRoundTrips = 50;      // by then the server has what was sent before

  WallClockTest() { config_.devices[0].threads = 1; }
};

TEST_F(WallClockTest, CallsThatWaitDoNotExpireWhenItJumps) {
  for (const absl::Duration jump : {absl::Hours(1), -absl::Hours(1)}) {
    testing::HeldWorker worker(server().engine().devices()[0]->workers());
    testing::PendingCall call(server().addresses()[0], testing::LongRequest(kLarge));
    for (int i = 0; i < kRoundTrips; ++i) call.RoundTrip();
    const WallClockJump jumped(jump);
    worker.Release();
    const auto answer = call.Wait();
    EXPECT_THAT(answer, testing::IsOk());
  }
  ExpectAliveAndEmpty();
}

TEST_F(WallClockTest, CallsThatComeAfterAJumpHaveTheirTime) {
  for (const absl::Duration jump : {absl::Hours(1), -absl::Hours(1)}) {
    const WallClockJump jumped(jump);
    const auto answer = tcp().Execute(testing::LongRequest(kLarge), kPatience);
    EXPECT_THAT(answer, testing::IsOk());
    v1::ExecuteBatchRequest batch;
    const v1::ExecuteRequest sample = testing::SampleRequest();
    *batch.add_calls() = sample.call();
    for (const std::string& raw : sample.raw()) batch.add_raw(raw);
    const auto results = tcp().ExecuteBatch(batch, kPatience);
    EXPECT_THAT(results, testing::IsOk());
  }
}

}  // namespace
}  // namespace opserve
