// Batches of many small calls run on workers: in their turn, within the bounds.
#include <gtest/gtest.h>

#include "tests/server/held_worker.h"
#include "tests/server/pending_call.h"
#include "tests/server/requests.h"
#include "tests/server/test_server.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

constexpr int kMany = 200;  // several turns

class LongBatchTest : public ServerTest {
 protected:
  LongBatchTest() {
    config_.devices[0].threads = 1;
    config_.admission.max_calls = 1;
    for (int i = 0; i < kMany; ++i) AddToBatch(many_, SampleRequest());
  }

  WorkerPool& workers() { return server().engine().devices()[0]->workers(); }
  EngineStatistics Counted() { return server().engine().statistics(); }

  void WaitUntilSeen(PendingBatch& batch) {
    for (int i = 0; i < kRoundTrips; ++i) batch.RoundTrip();
    EXPECT_EQ(Counted().calls_in_flight, 1);
  }
  // Whatever waited has had its turn when one that came later has.
  void LetTheRestRun() {
    for (int i = 0; i < kRoundTrips; ++i) const HeldWorker later(workers());
  }

  void ExpectRight(const Answer<v1::ExecuteBatchResponse>& answer) {
    ASSERT_THAT(answer, IsOk());
    ASSERT_EQ(answer.response.results_size(), kMany);
    for (int i = 0; i < kMany; ++i)
      EXPECT_EQ(OutputOf(ResultOf(answer.response, i)), SampleGradient()) << i;
  }

  v1::ExecuteBatchRequest many_;
};

TEST_F(LongBatchTest, WaitsForAWorkerWhileSmallCallsDoNot) {
  HeldWorker worker(workers());
  PendingBatch pending(server().addresses()[0], many_);
  WaitUntilSeen(pending);
  EXPECT_EQ(Counted().inline_calls, 0);
  // On the same connection as well as on others.
  pending.RoundTrip();
  EXPECT_THAT(tcp().Execute(SampleRequest()), IsOk());
  v1::ExecuteBatchRequest few;
  for (int i = 0; i < 3; ++i) AddToBatch(few, SampleRequest());
  EXPECT_THAT(tcp().ExecuteBatch(few), IsOk());
  EXPECT_EQ(Counted().inline_calls, 4);
  worker.Release();
  ExpectRight(pending.Wait());
  EXPECT_EQ(Counted().inline_calls, 4 + kMany);
  // The batch waited, not its calls.
  EXPECT_GT(Counted().queue_wait, absl::ZeroDuration());
  EXPECT_EQ(Counted().operators[0].queue_wait, absl::ZeroDuration());
  EXPECT_EQ(Counted().calls_in_flight, 0);
  ExpectAliveAndEmpty();
}

TEST_F(LongBatchTest, CancelledOnesNeverRun) {
  HeldWorker worker(workers());
  PendingBatch pending(server().addresses()[0], many_);
  WaitUntilSeen(pending);
  pending.Cancel();
  EXPECT_EQ(pending.Wait().code, "CANCELLED");
  for (int i = 0; i < kRoundTrips; ++i) pending.RoundTrip();
  worker.Release();
  LetTheRestRun();
  EXPECT_EQ(Counted().inline_calls, 0);
  EXPECT_EQ(Counted().cancelled_calls, 1);
  EXPECT_EQ(Counted().calls_in_flight, 0);
  ExpectAliveAndEmpty();
}

TEST_F(LongBatchTest, ExpiredOnesNeverRun) {
  HeldWorker worker(workers());
  EXPECT_EQ(tcp().ExecuteBatch(many_, absl::Milliseconds(500)).code, "DEADLINE_EXCEEDED");
  for (int i = 0; i < kRoundTrips; ++i) EXPECT_THAT(tcp().GetServerInfo(), IsOk());
  worker.Release();
  LetTheRestRun();
  EXPECT_EQ(Counted().inline_calls, 0);
  EXPECT_LE(Counted().cancelled_calls + Counted().expired_calls, 1);
  EXPECT_EQ(Counted().calls_in_flight, 0);
  ExpectAliveAndEmpty();
}

TEST_F(LongBatchTest, RefusedBeyondTheBounds) {
  HeldWorker worker(workers());
  PendingBatch pending(server().addresses()[0], many_);
  WaitUntilSeen(pending);
  const auto refused = tcp().ExecuteBatch(many_);
  EXPECT_EQ(refused.code, "RESOURCE_EXHAUSTED");
  EXPECT_EQ(refused.parameter(), "calls in flight") << refused.message;
  EXPECT_EQ(Counted().refused_calls, 1);
  worker.Release();
  ExpectRight(pending.Wait());
  ExpectRight(tcp().ExecuteBatch(many_));
  ExpectAliveAndEmpty();
}

class MixedBatchTest : public ServerTest {};

TEST_F(MixedBatchTest, LargeCallsAndMistakesKeepTheirPlaces) {
  v1::ExecuteBatchRequest batch;
  for (int i = 0; i < kMany; ++i) AddToBatch(batch, SampleRequest());
  for (int i = 3; i < kMany; i += 50) batch.mutable_calls(i)->set_op("Nothing");
  for (int i = 0; i < 4; ++i) AddToBatch(batch, LongRequest(1 << 20));
  const auto answer = tcp().ExecuteBatch(batch);
  ASSERT_THAT(answer, IsOk());
  ASSERT_EQ(answer.response.results_size(), kMany + 4);
  for (int i = 0; i < kMany; ++i) {
    if (i % 50 == 3) {
      EXPECT_NE(answer.response.results(i).error().message().find("Nothing"), std::string::npos);
    } else {
      EXPECT_EQ(OutputOf(ResultOf(answer.response, i)), SampleGradient()) << i;
    }
  }
  for (int i = kMany; i < kMany + 4; ++i)
    EXPECT_EQ(OutputOf(ResultOf(answer.response, i)), std::vector<double>{2});
  ExpectAliveAndEmpty();
}

}  // namespace
}  // namespace opserve::testing
