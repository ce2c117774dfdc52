// What becomes of calls in flight when the program is told to stop.
#include <gtest/gtest.h>

#include <csignal>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "tests/server/pending_call.h"
#include "tests/server/requests.h"
#include "tests/server/server_process.h"
#include "tests/server/test_server.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

constexpr int64_t kAboutASecond = int64_t{1} << 30;
constexpr int64_t kForever = int64_t{1} << 38;

// A server of one worker; its address is in its log.
class DrainingServer : public ServerProcess {
 public:
  explicit DrainingServer(const std::string& drain_timeout, const std::string& grace_period = "0")
      : ServerProcess({"--listen", "127.0.0.1:0", "--device", "cpu,threads=1", "--max-queue-wait",
                       "10m", "--drain-timeout", drain_timeout, "--grace-period", grace_period,
                       "--max-call-time", "0"}) {
    if (!WaitForLine("msg=serving")) return;
    const size_t start = output().find("127.0.0.1:");
    address_ = output().substr(start, output().find(' ', start) - start);
  }

  const std::string& address() const { return address_; }
  // Until a call runs.
  void WaitUntilBusy() const {
    Client client(address_);
    while (true) {
      const auto answer = client.ListDevices();
      ASSERT_THAT(answer, IsOk());
      if (answer.response.devices(0).memory().used_bytes() > 0) return;
    }
  }

 private:
  std::string address_;
};

class DrainingTest : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Signals, DrainingTest, ::testing::Values(SIGTERM, SIGINT));

TEST_P(DrainingTest, CallsInFlightEndAsIfNothingHadHappened) {
  DrainingServer server("10m");
  ASSERT_FALSE(server.address().empty()) << server.output();
  PendingCall running(server.address(), LongRequest(kAboutASecond));
  server.WaitUntilBusy();
  PendingCall waiting(server.address(), LongRequest(kAboutASecond >> 8));
  waiting.RoundTrip();
  server.Signal(GetParam());
  ASSERT_TRUE(server.WaitForLine("msg=draining")) << server.output();
  while (Client(server.address()).GetServerInfo().ok()) {
  }
  EXPECT_EQ(Client(server.address()).GetServerInfo().code, "UNAVAILABLE");
  for (PendingCall* call : {&running, &waiting}) {
    const auto answer = call->Wait();
    EXPECT_THAT(answer, IsOk());
    EXPECT_EQ(OutputOf(answer.response), std::vector<double>{2});
  }
  EXPECT_EQ(server.Wait(), 0) << server.output();
  EXPECT_NE(server.output().find("msg=stopped"), std::string::npos) << server.output();
}

TEST_P(DrainingTest, ASecondSignalEndsItAtOnce) {
  DrainingServer server("10m");
  ASSERT_FALSE(server.address().empty()) << server.output();
  PendingCall call(server.address(), LongRequest(kForever));
  server.WaitUntilBusy();
  server.Signal(GetParam());
  ASSERT_TRUE(server.WaitForLine("msg=draining")) << server.output();
  server.Signal(GetParam());
  EXPECT_EQ(server.Wait(), -GetParam()) << server.output();
  EXPECT_EQ(call.Wait().code, "UNAVAILABLE");
}

TEST(DrainTimeoutTest, CancelsWhatWaitsAndAwaitsWhatRuns) {
  DrainingServer server("100ms");
  ASSERT_FALSE(server.address().empty()) << server.output();
  PendingCall running(server.address(), LongRequest(kForever));
  server.WaitUntilBusy();
  PendingCall waiting(server.address(), LongRequest(kForever));
  waiting.RoundTrip();
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0) << server.output();
  EXPECT_NE(server.output().find("msg=stopped"), std::string::npos) << server.output();
  for (PendingCall* call : {&running, &waiting}) {
    const auto answer = call->Wait();
    EXPECT_TRUE(answer.code == "UNAVAILABLE" || answer.code == "CANCELLED") << answer.code;
  }
}

// A closed loop of calls of every kind, on a connection of its own, until one is not served.
struct LoadedClient {
  int64_t served = 0;
  std::string end;  // the code of the one that was not

  void Run(const std::string& address, std::latch& loaded) {
    Client client(address);
    v1::ExecuteBatchRequest batch;
    for (int i = 0; i < 50; ++i) AddToBatch(batch, SampleRequest());
    while (true) {
      const auto small = client.Execute(SampleRequest());
      if (!Count(small, loaded)) return;
      EXPECT_EQ(OutputOf(small.response), SampleGradient());
      const auto many = client.ExecuteBatch(batch);
      if (!Count(many, loaded)) return;
      EXPECT_EQ(OutputOf(ResultOf(many.response, 49)), SampleGradient());
      const auto large = client.Execute(LongRequest(1 << 20));
      if (!Count(large, loaded)) return;
      EXPECT_EQ(OutputOf(large.response), std::vector<double>{2});
    }
  }

 private:
  static constexpr int64_t kWarm = 20;

  bool Count(const Outcome& outcome, std::latch& loaded) {
    if (!outcome.ok()) {
      end = outcome.code;
      if (served < kWarm) loaded.count_down();
      return false;
    }
    if (++served == kWarm) loaded.count_down();
    return true;
  }
};

TEST(DrainUnderLoadTest, NoCallThatBeganIsLost) {
  constexpr int kClients = 6;
  DrainingServer server("10m", "200ms");
  ASSERT_FALSE(server.address().empty()) << server.output();
  std::vector<LoadedClient> clients(kClients);
  std::vector<std::thread> threads;
  std::latch loaded(kClients);
  threads.reserve(kClients);
  for (LoadedClient& client : clients)
    threads.emplace_back([&] { client.Run(server.address(), loaded); });
  loaded.wait();
  server.Signal(SIGTERM);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(server.Wait(), 0) << server.output();
  int64_t served = 0;
  int cancelled = 0;
  for (const LoadedClient& client : clients) {
    // CANCELLED: of calls that come before their client has heard of the GOAWAY.
    EXPECT_TRUE(client.end == "UNAVAILABLE" || client.end == "CANCELLED") << client.end;
    served += client.served;
    if (client.end == "CANCELLED") ++cancelled;
  }
  RecordProperty("cancelled", cancelled);
  // What the server began is what the clients were served: no call that ended otherwise had begun.
  EXPECT_NE(server.output().find("calls=" + std::to_string(served) + " sessions=0"),
            std::string::npos)
      << served << " served\n"
      << server.output();
}

TEST(GracePeriodTest, ServesOnWhileBalancersAreTold) {
  DrainingServer server("10m", "2s");
  ASSERT_FALSE(server.address().empty()) << server.output();
  HealthWatch watch(server.address(), "opserve.v1.OperatorService");
  EXPECT_EQ(watch.Next(), "SERVING");
  server.Signal(SIGTERM);
  EXPECT_EQ(watch.Next(), "NOT_SERVING");
  // A connection that is new, and one that is not.
  Client client(server.address());
  EXPECT_EQ(client.Health(""), "NOT_SERVING");
  EXPECT_EQ(client.Health("opserve.v1.SessionService"), "NOT_SERVING");
  const auto answer = client.Execute(SampleRequest());
  EXPECT_THAT(answer, IsOk());
  EXPECT_EQ(OutputOf(answer.response), SampleGradient());
  EXPECT_EQ(server.output().find("msg=draining"), std::string::npos) << server.output();
  EXPECT_EQ(server.Wait(), 0) << server.output();
  size_t last = 0;
  for (const std::string line :
       {"msg=\"grace period\" signal=15 grace_period=2s in_flight=", "msg=\"grace period over\"",
        "msg=draining", "msg=drained", "calls=1 sessions=0", "msg=stopped"}) {
    const size_t found = server.output().find(line, last);
    ASSERT_NE(found, std::string::npos) << line << "\n" << server.output();
    last = found;
  }
}

TEST(GracePeriodTest, ASecondSignalEndsIt) {
  DrainingServer server("10m", "10m");
  ASSERT_FALSE(server.address().empty()) << server.output();
  server.Signal(SIGTERM);
  ASSERT_TRUE(server.WaitForLine("msg=\"grace period\"")) << server.output();
  EXPECT_THAT(Client(server.address()).GetServerInfo(), IsOk());
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), -SIGTERM) << server.output();
}

TEST(HealthWatchTest, IsToldOfTheDrainAndDoesNotHoldIt) {
  DrainingServer server("10m");
  ASSERT_FALSE(server.address().empty()) << server.output();
  HealthWatch watch(server.address(), "opserve.v1.OperatorService");
  EXPECT_EQ(watch.Next(), "SERVING");
  server.Signal(SIGTERM);
  std::string status = watch.Next();
  EXPECT_EQ(status, "NOT_SERVING");
  EXPECT_EQ(server.Wait(), 0) << server.output();
  while (status == "NOT_SERVING") status = watch.Next();  // it may be told twice
  EXPECT_EQ(status, "");
}

}  // namespace
}  // namespace opserve::testing
