// Loads over a session whose server is silent.
#include "client/loadtest/calls/session_lane.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/time/clock.h"
#include "client/loadtest/load/measure.h"
#include "client/loadtest/transport/echo_server.h"
#include "tests/support/status_matchers.h"

namespace opserve::loadtest {
namespace {

constexpr absl::Duration kTimeout = absl::Milliseconds(100);
constexpr absl::Duration kLifetime = absl::Minutes(1);

class SessionLaneTest : public ::testing::Test {
 protected:
  void SetUp() override {
    EchoServer::Answers answers;
    answers.stream_method = kSessionMethod;
    answers.stream = [](std::string_view /*message*/) { return ""; };
    auto server = EchoServer::Start(std::move(answers), EchoServer::Socket::kUnix);
    ASSERT_THAT(server, opserve::testing::IsOk());
    server_ = *std::move(server);
    auto connection = Connect(server_->target(), absl::Minutes(1), {});
    ASSERT_THAT(connection, opserve::testing::IsOk());
    lanes_.push_back(
        MakeSessionLane(*std::move(connection), works_, expected_, sampling_, kLifetime));
  }

  // Nobody answers, also not what is under way when the load is to end.
  void ExpectTimeouts(const Level& level) {
    const absl::Time begin = absl::Now();
    Mix mix({{.timeout = kTimeout}}, 1);
    const Measurement measured = Measure(
        lanes_, mix, level,
        {.warm_up = absl::ZeroDuration(),
         .duration = absl::Seconds(1),  // long enough to begin, on any machine
         .window = absl::Seconds(1)},
        [](const Level&, const Window&) {}, stop_);
    EXPECT_LT(absl::Now() - begin, kLifetime / 2);
    EXPECT_GT(measured.recorder->totals().messages, 0);
    EXPECT_EQ(measured.recorder->totals().messages, measured.recorder->totals().failed_calls);
    ASSERT_EQ(measured.recorder->failures().List().size(), 1U);
    EXPECT_EQ(measured.recorder->failures().List().front().code, "DEADLINE_EXCEEDED");
  }

  const std::vector<Work> works_ = {{.name = "any", .call = client::Call("Any")}};
  const std::vector<Expected> expected_ = {Expected(client::ExecuteResult())};
  const std::atomic<bool> stop_ = false;
  Sampling sampling_{1};
  std::unique_ptr<EchoServer> server_;
  Lanes lanes_;
};

TEST_F(SessionLaneTest, AClosedLoopEndsAtItsTimeouts) {
  ExpectTimeouts({.name = "closed", .in_flight = 4});
}

TEST_F(SessionLaneTest, AnOpenLoopEndsAtItsTimeouts) {
  Level level{.name = "open"};
  level.open = OpenLoop{.phases = {{1000, absl::Seconds(1)}},
                        .spacing = Spacing::kEven,
                        .recorded = {},
                        .max_outstanding = 8};
  ExpectTimeouts(level);
}

}  // namespace
}  // namespace opserve::loadtest
