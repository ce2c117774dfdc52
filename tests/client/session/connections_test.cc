// Several connections of one client, against a real server.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include <opserve/client.h>

#include "absl/time/clock.h"
#include "core/base/op_error.h"
#include "tests/server/test_server.h"
#include "tests/support/status_matchers.h"

namespace opserve::client {
namespace {

using ::opserve::testing::IsOk;

class ConnectionsTest : public opserve::testing::ServerTest {
 protected:
  // Keeps 32 calls under way; all succeed.
  static void CallAtOnce(const Client& client) {
    constexpr int kRounds = 20, kAtOnce = 32;
    const std::vector<float> values(512, 1.0f);
    for (int round = 0; round < kRounds; ++round) {
      std::atomic<int> ended = 0;
      for (int i = 0; i < kAtOnce; ++i) {
        Call call("Tanh");
        call.Input("self", TensorView::Of(values, {512}));
        client.ExecuteAsync(call, {}, [&](const absl::StatusOr<ExecuteResult>& result) {
          EXPECT_THAT(result, IsOk());
          ++ended;
        });
      }
      while (ended != kAtOnce) absl::SleepFor(absl::Milliseconds(1));
    }
  }
};

TEST_F(ConnectionsTest, ManyCallsAreSpread) {
  for (const std::string& target : server().addresses())
    CallAtOnce(*Client::Connect(target, {.connections = 4}));
  ExpectAliveAndEmpty();
}

TEST_F(ConnectionsTest, TheirNumberIsChecked) {
  for (const int connections : {0, -1, 65}) {
    const absl::Status status =
        Client::Connect("localhost:1", {.connections = connections}).status();
    EXPECT_EQ(GetErrorDetail(status)->parameter, "connections") << status;
  }
}

class FewConnectionsTest : public ConnectionsTest {
 protected:
  FewConnectionsTest() { config_.clients.max_connections_of_peer = 3; }
};

// The test's own two clients have one each by TCP and unix socket.
TEST_F(FewConnectionsTest, WhatTheServerRefusesLosesNoCall) {
  CallAtOnce(*Client::Connect(server().addresses()[0], {.connections = 8}));
}

}  // namespace
}  // namespace opserve::client
