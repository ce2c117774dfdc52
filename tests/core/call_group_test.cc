// Engine::SubmitGroup: calls that came together take turns, and are dropped together.
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "core/engine/engine.h"
#include "gtest/gtest.h"
#include "tests/support/fake_clock.h"
#include "tests/support/signal.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

class CallGroupTest : public ::testing::Test {
 protected:
  CallGroupTest() {
    EngineOptions options;
    options.devices = {DeviceSpec{.kind = "cpu", .threads = 2}};
    options.clock = &clock_;
    engine_ = *Engine::Create(options);
  }

  // What `done` is told. There are three turns.
  absl::Status Run(CallGroup group) {
    Signal ended;
    absl::Status told;
    group.device = engine_->devices()[0].get();
    group.turn = [this] {
      waits_.push_back(engine_->statistics().expected_wait);
      return (3 - ++turns_) * absl::Seconds(1);
    };
    group.done = [&](absl::Status status) {
      told = std::move(status);
      in_flight_at_end_ = engine_->statistics().calls_in_flight;
      ended.Notify();
    };
    engine_->SubmitGroup(std::move(group));
    ended.Wait();
    return told;
  }

  FakeClock clock_;
  std::unique_ptr<Engine> engine_;
  std::atomic<int> turns_ = 0;
  std::vector<absl::Duration> waits_;  // expected by others, before each turn
  int64_t in_flight_at_end_ = -1;
};

TEST_F(CallGroupTest, TakesTurnsUntilThereAreNoMore) {
  EXPECT_THAT(Run({}), IsOk());
  EXPECT_EQ(turns_, 3);
  EXPECT_EQ(in_flight_at_end_, 0);
  EXPECT_EQ(engine_->statistics().queued_calls, 0);
}

TEST_F(CallGroupTest, OthersWaitForWhatIsLeftOfIt) {
  CallGroup group;
  group.time = absl::Milliseconds(2);
  EXPECT_THAT(Run(std::move(group)), IsOk());
  // Of two threads.
  EXPECT_EQ(waits_, (std::vector<absl::Duration>{absl::Milliseconds(1), absl::Seconds(1),
                                                 absl::Milliseconds(500)}));
  EXPECT_EQ(engine_->statistics().expected_wait, absl::ZeroDuration());
}

TEST_F(CallGroupTest, AnExpiredOneIsDropped) {
  CallGroup late;
  late.deadline = clock_.Now() - absl::Nanoseconds(1);
  EXPECT_EQ(Run(std::move(late)).code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(turns_, 0);
  EXPECT_EQ(in_flight_at_end_, 0);
  EXPECT_EQ(engine_->statistics().expired_calls, 1);
}

TEST_F(CallGroupTest, ACancelledOneIsDroppedBeforeItsNextTurn) {
  CallGroup gone;
  gone.cancelled = [this] { return turns_ == 2; };
  EXPECT_EQ(Run(std::move(gone)).code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(turns_, 2);
  EXPECT_EQ(engine_->statistics().cancelled_calls, 1);
}

}  // namespace
}  // namespace opserve::testing
