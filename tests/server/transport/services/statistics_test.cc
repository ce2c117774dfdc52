// GetStatistics against a real server.
#include <gtest/gtest.h>

#include "tests/server/held_worker.h"
#include "tests/server/pending_call.h"
#include "tests/server/requests.h"
#include "tests/server/session_client.h"
#include "tests/server/test_server.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

class StatisticsTest : public ServerTest {
 protected:
  StatisticsTest() { config_.devices[0].threads = 1; }

  v1::GetStatisticsResponse Now() {
    const auto answer = tcp().GetStatistics();
    EXPECT_THAT(answer, IsOk());
    return answer.response;
  }

  v1::MethodStatistics Of(const std::string& method) {
    const v1::GetStatisticsResponse now = Now();
    for (const v1::MethodStatistics& statistics : now.methods())
      if (statistics.method() == method) return statistics;
    ADD_FAILURE() << method;
    return {};
  }

  static int64_t Ended(const v1::MethodStatistics& method, const std::string& name) {
    for (const v1::StatusCount& ended : method.ended())
      if (ended.name() == name) return ended.calls();
    return 0;
  }
};

TEST_F(StatisticsTest, MethodsByStatusAndBytes) {
  const v1::ExecuteRequest good = SampleRequest();
  v1::ExecuteRequest bad = good;
  bad.mutable_call()->set_op("Nothing");
  int64_t response_bytes = 0;
  for (int i = 0; i < 3; ++i)
    response_bytes += static_cast<int64_t>(tcp().Execute(good).response.ByteSizeLong());
  EXPECT_EQ(unix_socket().Execute(bad).code, "NOT_FOUND");
  const v1::MethodStatistics execute = Of("Execute");
  EXPECT_EQ(Ended(execute, "OK"), 3);
  EXPECT_EQ(Ended(execute, "NOT_FOUND"), 1);
  EXPECT_EQ(execute.in_flight(), 0);
  EXPECT_EQ(execute.request_bytes(),
            static_cast<int64_t>(3 * good.ByteSizeLong() + bad.ByteSizeLong()));
  EXPECT_EQ(execute.response_bytes(), response_bytes);
  EXPECT_EQ(Ended(Of("ListDevices"), "OK"), 0);
  EXPECT_EQ(Of("GetStatistics").in_flight(), 1);  // the one that asks
}

TEST_F(StatisticsTest, ErrorsByReasonAndCallsOfBatches) {
  v1::ExecuteBatchRequest batch;
  AddToBatch(batch, SampleRequest());
  batch.add_calls()->set_op("Nothing");
  batch.add_calls()->set_op("L1Loss");
  EXPECT_THAT(tcp().ExecuteBatch(batch), IsOk());
  batch.add_raw("");
  EXPECT_FALSE(tcp().ExecuteBatch(batch).ok());
  const v1::GetStatisticsResponse now = Now();
  EXPECT_EQ(now.batches().calls(), 3);
  EXPECT_EQ(now.batches().failed_calls(), 2);
  ASSERT_EQ(now.errors_size(), 3);
  EXPECT_EQ(now.errors(0).reason(), "MISSING_PARAMETER");
  EXPECT_EQ(now.errors(1).reason(), "INVALID_PARAMETER");
  EXPECT_EQ(now.errors(2).reason(), "OPERATOR_NOT_FOUND");
  for (const v1::ReasonCount& count : now.errors()) EXPECT_EQ(count.errors(), 1);
}

TEST_F(StatisticsTest, CallsByOperator) {
  EXPECT_EQ(Now().operators_size(), 0);
  v1::ExecuteBatchRequest batch;
  for (int i = 0; i < 20; ++i) AddToBatch(batch, SampleRequest());
  AddToBatch(batch, LongRequest(1 << 20));
  EXPECT_THAT(tcp().ExecuteBatch(batch), IsOk());
  EXPECT_THAT(tcp().Execute(SampleRequest()), IsOk());
  v1::ExecuteRequest bad = SampleRequest();
  bad.mutable_raw(0)->append("1234");
  EXPECT_FALSE(tcp().Execute(bad).ok());
  const v1::GetStatisticsResponse now = Now();
  ASSERT_EQ(now.operators_size(), 2);
  const v1::OperatorStatistics& loss = now.operators(0);
  const v1::OperatorStatistics& gradient = now.operators(1);
  EXPECT_EQ(loss.op(), "L1Loss");
  EXPECT_EQ(loss.calls(), 1);
  EXPECT_EQ(loss.failed_calls(), 0);
  EXPECT_EQ(gradient.op(), "SmoothL1LossBackward");
  EXPECT_EQ(gradient.calls(), 22);
  EXPECT_EQ(gradient.failed_calls(), 1);
  EXPECT_EQ(gradient.output_bytes(), 21 * 8 * 4);
  const v1::EngineStatistics& engine = now.engine();
  EXPECT_EQ(engine.inline_calls() + engine.queued_calls(), 23);
  EXPECT_EQ(engine.failed_calls(), 1);
  EXPECT_EQ(engine.execution_ns(), loss.execution_ns() + gradient.execution_ns());
  EXPECT_EQ(engine.input_bytes(), loss.input_bytes() + gradient.input_bytes());
}

TEST_F(StatisticsTest, CallsOfSessionsByOperator) {
  SessionClient session(server().addresses()[0]);
  session.Do("create_context { context: 1 }");
  session.Do("create_stream { stream: 1 context: 1 }");
  session.Do("allocate { buffer: 1 context: 1 size_bytes: 16 }");
  const std::string call = "call { op: 'Hardshrink' attributes { name: 'lambd' float_value: 0.5 } ";
  const std::string self = "inputs { name: 'self' dtype: DATA_TYPE_FLOAT32 shape: 4 ";
  session.Do("create_executor { executor: 1 context: 1 repeatable: true " + call + self +
             "buffer { buffer: 1 } } } }");
  for (int i = 0; i < 2; ++i)
    EXPECT_FALSE(session.Do("run_executor { executor: 1 stream: 1 }").has_error());
  session.Send("execute_chunked { " + call + self + "chunked {} } } }");
  const uint64_t chunked = session.last_id();
  session.Send("input_chunk { command: " + std::to_string(chunked) + " input: 'self' }",
               {BytesOf(v1::DATA_TYPE_FLOAT32, {1, 2, 3, 4})});
  EXPECT_FALSE(session.Await(chunked).has_error());
  const v1::GetStatisticsResponse now = Now();
  ASSERT_EQ(now.operators_size(), 1);
  EXPECT_EQ(now.operators(0).op(), "Hardshrink");
  EXPECT_EQ(now.operators(0).calls(), 3);
  EXPECT_EQ(now.operators(0).failed_calls(), 0);
  EXPECT_EQ(now.operators(0).input_bytes(), 3 * 16);
  EXPECT_EQ(now.operators(0).output_bytes(), 3 * 16);
  EXPECT_EQ(now.engine().inline_calls() + now.engine().queued_calls(), 3);
}

TEST_F(StatisticsTest, CallsInFlightAndDevices) {
  HeldWorker worker(server().engine().devices()[0]->workers());
  PendingCall call(server().addresses()[0], LongRequest(1 << 20));
  while (Now().engine().queued_calls() == 0) call.RoundTrip();
  const v1::GetStatisticsResponse during = Now();
  EXPECT_GT(during.uptime_ns(), 0);
  EXPECT_EQ(Of("Execute").in_flight(), 1);
  EXPECT_EQ(during.engine().queued_calls(), 1);
  EXPECT_EQ(during.engine().calls_in_flight(), 1);
  EXPECT_GT(during.engine().bytes_in_flight(), 0);
  EXPECT_GT(during.engine().expected_wait_ns(), 0);
  ASSERT_EQ(during.devices_size(), 1);
  EXPECT_EQ(during.devices(0).device(), "cpu:0");
  EXPECT_GT(during.devices(0).memory().limit_bytes(), 0);
  EXPECT_EQ(during.devices(0).memory().hits() + during.devices(0).memory().misses(), 0);
  worker.Release();
  EXPECT_THAT(call.Wait(), IsOk());
  EXPECT_THAT(tcp().Execute(SampleRequest()), IsOk());
  const v1::GetStatisticsResponse after = Now();
  EXPECT_GT(after.uptime_ns(), during.uptime_ns());
  EXPECT_EQ(after.engine().inline_calls(), 1);
  EXPECT_GT(after.engine().queue_wait_ns(), 0);
  EXPECT_GT(after.engine().execution_ns(), 0);
  EXPECT_GT(after.devices(0).memory().hits() + after.devices(0).memory().misses(), 0);
}

}  // namespace
}  // namespace opserve::testing
