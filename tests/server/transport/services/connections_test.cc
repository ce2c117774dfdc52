// Connections that the server ends by themselves, and clients that go on.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/server/pending_call.h"
#include "tests/server/requests.h"
#include "tests/server/test_server.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

class ConnectionAgeTest : public ServerTest {
 protected:
  ConnectionAgeTest() {
    config_.connections.max_age = absl::Milliseconds(200);
    config_.connections.max_age_grace = absl::Seconds(1);
  }
};

// A stream on a connection of its own is cut when age and grace are over; the clients of other
// connections have met the same age by then.
TEST_F(ConnectionAgeTest, CallsGoOnWithoutAnError) {
  std::atomic<bool> over = false;
  int64_t calls = 0;
  std::thread caller([&] {
    while (!over) {
      const auto answer = tcp().Execute(SampleRequest());
      EXPECT_THAT(answer, IsOk());
      EXPECT_EQ(OutputOf(answer.response), SampleGradient());
      ++calls;
    }
  });
  for (int i = 0; i < 2; ++i) {
    HealthWatch watch(server().addresses()[0], "");
    EXPECT_EQ(watch.Next(), "SERVING");
    EXPECT_EQ(watch.Next(), "");
  }
  over = true;
  caller.join();
  EXPECT_GT(calls, 10);
}

class FewStreamsTest : public ServerTest {
 protected:
  FewStreamsTest() {
    config_.connections.max_concurrent_streams = 1;
    config_.connections.memory_quota_bytes = int64_t{64} << 20;
    config_.connections.keepalive_time = absl::Milliseconds(100);
    config_.connections.max_idle = absl::Hours(1);
  }

  v1::MethodStatistics OfExecute() {
    const auto statistics = tcp().GetStatistics();
    EXPECT_THAT(statistics, IsOk());
    for (const v1::MethodStatistics& method : statistics.response.methods()) {
      if (method.method() == "Execute") return method;
    }
    return {};
  }
};

TEST_F(FewStreamsTest, OthersWaitInTheClient) {
  PendingCall call(server().addresses()[0], LongRequest(int64_t{1} << 26));
  for (v1::MethodStatistics now; now.in_flight() == 0 && now.ended_size() == 0; now = OfExecute()) {
  }
  call.RoundTrip();  // once the first is over
  EXPECT_EQ(OfExecute().in_flight(), 0);
  EXPECT_THAT(call.Wait(), IsOk());
}

}  // namespace
}  // namespace opserve::testing
