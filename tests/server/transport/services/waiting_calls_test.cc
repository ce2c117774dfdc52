// Calls that wait for a worker, and clients that give up on them.
#include <gtest/gtest.h>

#include "tests/server/held_worker.h"
#include "tests/server/pending_call.h"
#include "tests/server/requests.h"
#include "tests/server/test_server.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

class WaitingCallsTest : public ServerTest {
 protected:
  WaitingCallsTest() { config_.devices[0].threads = 1; }

  Device& device() { return *server().engine().devices()[0]; }
  const std::string& address() { return server().addresses()[0]; }
  // Every call that ran has leased memory.
  int64_t leases() {
    const MemoryPool::Stats stats = device().memory().stats();
    return stats.hits + stats.misses;
  }
  static void WaitUntilSeen(PendingCall& call) {
    for (int i = 0; i < kRoundTrips; ++i) call.RoundTrip();
  }
  // Tasks start in about the order in which they came: whatever waited has had its turn when so
  // many that came later have.
  void LetTheRestRun() {
    for (int i = 0; i < kRoundTrips; ++i) const HeldWorker later(device().workers());
  }
};

TEST_F(WaitingCallsTest, RunOnceAWorkerIsFree) {
  HeldWorker worker(device().workers());
  PendingCall call(address(), LongRequest(kLarge));
  WaitUntilSeen(call);
  EXPECT_EQ(leases(), 0);
  EXPECT_THAT(tcp().Execute(SampleRequest()), IsOk());  // small ones do not wait
  const int64_t before = leases();
  worker.Release();
  const auto answer = call.Wait();
  EXPECT_THAT(answer, IsOk());
  EXPECT_EQ(OutputOf(answer.response), std::vector<double>{2});
  EXPECT_GT(leases(), before);
  ExpectAliveAndEmpty();
}

TEST_F(WaitingCallsTest, CancelledOnesNeverRun) {
  HeldWorker worker(device().workers());
  PendingCall call(address(), LongRequest(kLarge));
  WaitUntilSeen(call);
  call.Cancel();
  EXPECT_EQ(call.Wait().code, "CANCELLED");
  WaitUntilSeen(call);
  worker.Release();
  LetTheRestRun();
  EXPECT_EQ(leases(), 0);
  ExpectAliveAndEmpty();
}

TEST_F(WaitingCallsTest, ExpiredOnesNeverRun) {
  HeldWorker worker(device().workers());
  PendingCall call(address(), LongRequest(kLarge), absl::Milliseconds(200));
  EXPECT_EQ(call.Wait().code, "DEADLINE_EXCEEDED");
  WaitUntilSeen(call);
  worker.Release();
  LetTheRestRun();
  EXPECT_EQ(leases(), 0);
  ExpectAliveAndEmpty();
}

TEST_F(WaitingCallsTest, LostConnectionsCancel) {
  HeldWorker worker(device().workers());
  {
    PendingCall call(address(), LongRequest(kLarge));
    WaitUntilSeen(call);
  }
  for (int i = 0; i < kRoundTrips; ++i) EXPECT_THAT(tcp().GetServerInfo(), IsOk());
  worker.Release();
  LetTheRestRun();
  EXPECT_EQ(leases(), 0);
  ExpectAliveAndEmpty();
}

TEST_F(WaitingCallsTest, RunningOnesThatAreCancelledGiveTheirMemoryBack) {
  PendingCall call(address(), LongRequest(int64_t{1} << 28));
  while (used_bytes() == 0) call.RoundTrip();
  call.Cancel();
  EXPECT_EQ(call.Wait().code, "CANCELLED");
  LetTheRestRun();
  ExpectAliveAndEmpty();
}

class ShareOfWaitingCallsTest : public WaitingCallsTest {
 protected:
  ShareOfWaitingCallsTest() {
    config_.admission.max_calls = 4;
    config_.clients.share = 0.5;
  }

  // One element of many: quick, but for the bytes that must be brought together.
  static v1::ExecuteRequest Gathered() {
    v1::ExecuteRequest request;
    request.mutable_call()->set_op("Hardshrink");
    AddInput(request, "self", v1::DATA_TYPE_FLOAT32, {1}, std::vector<double>(1 << 18, 3))
        .set_storage_offset(1);
    AddFloat(*request.mutable_call(), "lambd", 0.5);
    return request;
  }
};

TEST_F(ShareOfWaitingCallsTest, IsThatOfTheirClientThoughTheyComputeLittle) {
  const v1::ExecuteRequest gathered = Gathered();
  HeldWorker worker(device().workers());
  PendingCall first(address(), gathered);
  PendingCall second(address(), gathered);
  WaitUntilSeen(first);
  WaitUntilSeen(second);
  const auto refused = tcp().Execute(gathered, absl::Seconds(10));
  EXPECT_EQ(refused.code, "RESOURCE_EXHAUSTED");
  EXPECT_NE(refused.message.find("at most 2 calls of one client"), std::string::npos)
      << refused.message;
  PendingCall of_another(server().addresses()[1], gathered);
  WaitUntilSeen(of_another);
  worker.Release();
  for (PendingCall* const call : {&first, &second, &of_another}) {
    const auto answer = call->Wait();
    ASSERT_THAT(answer, IsOk());
    EXPECT_EQ(OutputOf(answer.response), std::vector<double>{3});
  }
  ExpectAliveAndEmpty();
}

}  // namespace
}  // namespace opserve::testing
