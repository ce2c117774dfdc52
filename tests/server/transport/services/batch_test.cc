// ExecuteBatch against a real server.
#include <gtest/gtest.h>

#include <vector>

#include "tests/server/held_worker.h"
#include "tests/server/pending_call.h"
#include "tests/server/requests.h"
#include "tests/server/test_server.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

google::rpc::ErrorInfo InfoOf(const v1::BatchResult& result) {
  google::rpc::ErrorInfo info;
  EXPECT_EQ(result.error().details_size(), 1);
  EXPECT_TRUE(result.error().details_size() != 1 ||
              info.ParseFromString(result.error().details(0).value()));
  return info;
}

std::string ParameterOf(const v1::BatchResult& result) {
  const google::rpc::ErrorInfo info = InfoOf(result);
  const auto found = info.metadata().find("parameter");
  return found == info.metadata().end() ? "" : found->second;
}

v1::ExecuteBatchRequest Samples(int count) {
  v1::ExecuteBatchRequest batch;
  for (int i = 0; i < count; ++i) AddToBatch(batch, SampleRequest());
  return batch;
}

class BatchTest : public ServerTest {
 protected:
  BatchTest() { config_.devices[0].threads = 1; }

  v1::ExecuteBatchResponse Run(const v1::ExecuteBatchRequest& batch) {
    const auto answer = tcp().ExecuteBatch(batch);
    EXPECT_THAT(answer, IsOk());
    EXPECT_EQ(answer.response.results_size(), batch.calls_size());
    return answer.response;
  }

  WorkerPool& workers() { return server().engine().devices()[0]->workers(); }
};

TEST_F(BatchTest, TellsHowEachWasExecutedWhenAsked) {
  v1::ExecuteBatchRequest batch = Samples(100);
  for (int i = 0; i < 100; i += 2) batch.mutable_calls(i)->set_report_execution(true);
  for (const v1::TensorEncoding encoding : {v1::TENSOR_ENCODING_RAW, v1::TENSOR_ENCODING_VALUES}) {
    batch.set_output_encoding(encoding);
    const v1::ExecuteBatchResponse response = Run(batch);
    for (int i = 0; i < response.results_size(); ++i) {
      const v1::BatchResult& result = response.results(i);
      EXPECT_EQ(result.has_execution(), i % 2 == 0) << i;
      EXPECT_EQ(OutputOf(ResultOf(response, i)), SampleGradient());
      if (!result.has_execution()) continue;
      EXPECT_EQ(result.execution().device(), "cpu:0");
      EXPECT_GT(result.execution().executed_ns(), 0);
    }
  }
  for (v1::Call& call : *batch.mutable_calls()) call.set_report_execution(true);
  const v1::ExecuteBatchResponse response = Run(batch);
  for (const v1::BatchResult& result : response.results())
    EXPECT_GT(result.execution().executed_ns(), 0);
}

TEST_F(BatchTest, AnswersInOrder) {
  v1::ExecuteBatchRequest batch;
  for (const int64_t elements : {kLarge, int64_t{8}, kLarge, int64_t{8}}) {
    AddToBatch(batch, LongRequest(elements));
    AddToBatch(batch, SampleRequest(v1::DATA_TYPE_BFLOAT16));
  }
  const v1::ExecuteBatchResponse answer = Run(batch);
  for (int i = 0; i < answer.results_size(); i += 2) {
    EXPECT_EQ(OutputOf(ResultOf(answer, i)), std::vector<double>{2});
    EXPECT_EQ(OutputOf(ResultOf(answer, i + 1)), SampleGradient());
  }
  ExpectAliveAndEmpty();
}

TEST_F(BatchTest, AnEmptyOneIsAnsweredByNothing) {
  EXPECT_EQ(Run({}).ByteSizeLong(), 0u);
  ExpectAliveAndEmpty();
}

TEST_F(BatchTest, CallsFailByThemselves) {
  v1::ExecuteBatchRequest batch = Samples(5);
  batch.mutable_calls(0)->mutable_attributes(1)->set_float_value(-1);
  batch.mutable_calls(2)->mutable_inputs(1)->set_raw_index(99);
  batch.mutable_calls(3)->set_op("Nothing");
  batch.mutable_calls(4)->mutable_inputs(0)->set_raw_index(6);
  batch.add_calls()->add_inputs()->set_raw_index(7);  // so that every entry is used
  batch.mutable_calls(5)->add_inputs()->set_raw_index(12);
  const v1::ExecuteBatchResponse answer = Run(batch);
  EXPECT_EQ(answer.results(0).error().message(), "SmoothL1LossBackward: beta: want >= 0, got -1");
  EXPECT_EQ(InfoOf(answer.results(0)).metadata().at("code"), "161002");
  EXPECT_EQ(OutputOf(ResultOf(answer, 1)), SampleGradient());
  EXPECT_EQ(ParameterOf(answer.results(2)), "self");
  EXPECT_EQ(InfoOf(answer.results(3)).reason(), "OPERATOR_NOT_FOUND");
  EXPECT_EQ(OutputOf(ResultOf(answer, 4)), SampleGradient());
  EXPECT_EQ(InfoOf(answer.results(5)).reason(), "OPERATOR_NOT_FOUND");
  for (const v1::BatchResult& result : answer.results())
    EXPECT_NE(result.has_error(), result.outputs_size() > 0);
  ExpectAliveAndEmpty();
}

TEST_F(BatchTest, CallsShareEntriesAndValuesAreTheirOwn) {
  v1::ExecuteBatchRequest batch = Samples(1);
  for (int i = 1; i < 50; ++i) *batch.add_calls() = batch.calls(0);
  for (int i = 0; i < 50; i += 2) {
    v1::Tensor& self = *batch.mutable_calls(i)->mutable_inputs(1);
    self.clear_data();
    for (int j = 0; j < 8; ++j) self.mutable_values()->add_floats(i % 4 == 0 ? 9 : 1);
  }
  const v1::ExecuteBatchResponse answer = Run(batch);
  for (int i = 0; i < 50; ++i) {
    const double alike = i % 4 == 0 ? 1 : 0;
    EXPECT_EQ(OutputOf(ResultOf(answer, i)),
              i % 2 == 0 ? std::vector<double>(8, alike) : SampleGradient());
  }
}

// Calls that are alike but for their raw entries, where an entry is no input but an attribute.
TEST_F(BatchTest, AttributesFromRawEntriesAreEachCallsOwn) {
  v1::ExecuteBatchRequest batch;
  for (const double beta : {1.0, 2.0, -1.0, 4.0}) {
    v1::ExecuteRequest single = SampleRequest();
    single.mutable_call()->mutable_attributes()->RemoveLast();
    AddInput(single, "beta", v1::DATA_TYPE_FLOAT32, {}, {beta});
    AddToBatch(batch, single);
  }
  const v1::ExecuteBatchResponse answer = Run(batch);
  EXPECT_EQ(OutputOf(ResultOf(answer, 0))[2], 1);
  EXPECT_EQ(OutputOf(ResultOf(answer, 1))[2], 0.5);
  EXPECT_EQ(ParameterOf(answer.results(2)), "beta");
  EXPECT_EQ(OutputOf(ResultOf(answer, 3))[2], 0.25);
}

TEST_F(BatchTest, OutputsAsValues) {
  v1::ExecuteBatchRequest batch = Samples(3);
  batch.set_output_encoding(v1::TENSOR_ENCODING_VALUES);
  const v1::ExecuteBatchResponse answer = Run(batch);
  EXPECT_EQ(answer.raw_size(), 0);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(answer.results(i).outputs(0).has_values());
    EXPECT_EQ(OutputOf(ResultOf(answer, i)), SampleGradient());
  }
}

TEST_F(BatchTest, MistakesOfTheWhole) {
  v1::ExecuteBatchRequest batch = Samples(2);
  batch.add_raw("1234");
  auto answer = tcp().ExecuteBatch(batch);
  EXPECT_EQ(answer.code, "INVALID_ARGUMENT");
  EXPECT_EQ(answer.parameter(), "raw") << answer.message;
  batch = Samples(2);
  batch.set_output_encoding(static_cast<v1::TensorEncoding>(9));
  answer = tcp().ExecuteBatch(batch);
  EXPECT_EQ(answer.aclnn_code(), "161002");
  EXPECT_EQ(answer.parameter(), "output_encoding") << answer.message;
  batch.Clear();
  for (int i = 0; i < 4097; ++i) batch.add_calls();
  answer = tcp().ExecuteBatch(batch);
  EXPECT_EQ(answer.parameter(), "calls") << answer.message;
  EXPECT_EQ(tcp().SendBytes("ExecuteBatch", "\x0b").parameter(), "message");
  ExpectAliveAndEmpty();
}

TEST_F(BatchTest, LargeOnesWaitForAWorkerAndSmallOnesDoNot) {
  HeldWorker worker(workers());
  v1::ExecuteBatchRequest batch = Samples(1);
  AddToBatch(batch, LongRequest(kLarge));
  PendingBatch pending(server().addresses()[0], batch);
  for (int i = 0; i < kRoundTrips; ++i) pending.RoundTrip();
  EXPECT_GT(used_bytes(), 0);  // the small one's output, until the answer leaves
  worker.Release();
  const auto answer = pending.Wait();
  EXPECT_THAT(answer, IsOk());
  EXPECT_EQ(OutputOf(ResultOf(answer.response, 0)), SampleGradient());
  EXPECT_EQ(OutputOf(ResultOf(answer.response, 1)), std::vector<double>{2});
  ExpectAliveAndEmpty();
}

TEST_F(BatchTest, CancelledOnesNeverRun) {
  HeldWorker worker(workers());
  v1::ExecuteBatchRequest batch;
  for (int i = 0; i < 3; ++i) AddToBatch(batch, LongRequest(kLarge));
  PendingBatch pending(server().addresses()[0], batch);
  for (int i = 0; i < kRoundTrips; ++i) pending.RoundTrip();
  pending.Cancel();
  EXPECT_EQ(pending.Wait().code, "CANCELLED");
  for (int i = 0; i < kRoundTrips; ++i) pending.RoundTrip();
  const MemoryPool::Stats before = server().engine().devices()[0]->memory().stats();
  worker.Release();
  for (int i = 0; i < kRoundTrips; ++i) const HeldWorker later(workers());
  const MemoryPool::Stats after = server().engine().devices()[0]->memory().stats();
  EXPECT_EQ(after.hits + after.misses, before.hits + before.misses);
  ExpectAliveAndEmpty();
}

TEST_F(BatchTest, ExpiredOnesNeverRun) {
  HeldWorker worker(workers());
  v1::ExecuteBatchRequest batch;
  AddToBatch(batch, LongRequest(kLarge));
  EXPECT_EQ(tcp().ExecuteBatch(batch, absl::Milliseconds(200)).code, "DEADLINE_EXCEEDED");
  for (int i = 0; i < kRoundTrips; ++i) EXPECT_THAT(tcp().GetServerInfo(), IsOk());
  const MemoryPool::Stats before = server().engine().devices()[0]->memory().stats();
  worker.Release();
  for (int i = 0; i < kRoundTrips; ++i) const HeldWorker later(workers());
  const MemoryPool::Stats after = server().engine().devices()[0]->memory().stats();
  EXPECT_EQ(after.hits + after.misses, before.hits + before.misses);
  ExpectAliveAndEmpty();
}

class SmallBatchAnswersTest : public ServerTest {
 protected:
  SmallBatchAnswersTest() { config_.max_message_bytes = 64 << 10; }

  // 32 KiB of answer from a few bytes.
  static v1::ExecuteRequest Broadcast() {
    v1::ExecuteRequest request;
    request.mutable_call()->set_op("SmoothL1LossBackward");
    AddInput(request, "grad_out", v1::DATA_TYPE_FLOAT32, {}, {1});
    AddInput(request, "self", v1::DATA_TYPE_FLOAT32, {8 << 10}, {3}).add_strides(0);
    AddInput(request, "target", v1::DATA_TYPE_FLOAT32, {}, {1});
    AddInt(*request.mutable_call(), "reduction", 2);
    return request;
  }
};

TEST_F(SmallBatchAnswersTest, ResultsThatDoNotFitFailByThemselves) {
  v1::ExecuteBatchRequest batch;
  for (int i = 0; i < 4; ++i) {
    AddToBatch(batch, SampleRequest());
    AddToBatch(batch, Broadcast());
  }
  const auto answer = tcp().ExecuteBatch(batch);
  ASSERT_THAT(answer, IsOk());
  EXPECT_LE(answer.response.ByteSizeLong(), size_t{64} << 10);
  EXPECT_EQ(OutputOf(ResultOf(answer.response, 1)), std::vector<double>(8 << 10, 1));
  for (const int i : {3, 5, 7}) {
    EXPECT_EQ(InfoOf(answer.response.results(i)).reason(), "RESOURCE_LIMIT");
    EXPECT_EQ(ParameterOf(answer.response.results(i)), "max_message_bytes");
  }
  for (const int i : {0, 2, 4, 6})
    EXPECT_EQ(OutputOf(ResultOf(answer.response, i)), SampleGradient());
  ExpectAliveAndEmpty();
}

TEST_F(SmallBatchAnswersTest, MoreCallsThanErrorsFitAreRefused) {
  v1::ExecuteBatchRequest batch;
  for (int i = 0; i < 21; ++i) batch.add_calls();
  EXPECT_THAT(tcp().ExecuteBatch(batch), IsOk());
  batch.add_calls();
  const auto answer = tcp().ExecuteBatch(batch);
  EXPECT_EQ(answer.code, "INVALID_ARGUMENT");
  EXPECT_EQ(answer.parameter(), "calls") << answer.message;
}

}  // namespace
}  // namespace opserve::testing
