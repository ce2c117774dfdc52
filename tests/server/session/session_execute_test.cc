// ExecuteCommand: both phases at once, in a stream's turn or in none.
#include <gtest/gtest.h>

#include "core/workers/worker_pool.h"
#include "tests/server/session/session_fixture.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

constexpr std::string_view kPoint7 = "\x33\x33\x33\x3f";

std::string Execute(std::string_view more, std::string_view call = "") {
  return absl::StrCat(
      "execute { ", std::string(more),
      " call { op: 'Hardshrink' attributes { name: 'lambd' float_value: 0.5 } inputs { name: "
      "'self' dtype: DATA_TYPE_FLOAT32 shape: 2 raw_index: 0 } ",
      std::string(call), " } }");
}

std::string TwoFloats() { return std::string(4, '\0') + std::string(kPoint7); }

class SessionExecuteTest : public SessionFixture {
 protected:
  void ExpectResult(const Reply& reply) {
    ASSERT_EQ(reply.answers.size(), 1u);
    ASSERT_EQ(reply.last().outputs().outputs_size(), 1) << reply.last().ShortDebugString();
    EXPECT_EQ(reply.last().outputs().outputs(0).name(), "out");
    ASSERT_EQ(reply.last_raw().size(), 1u);
    EXPECT_EQ(reply.last_raw()[0], TwoFloats());
  }
};

TEST_F(SessionExecuteTest, OnNoStream) { ExpectResult(session().Do(Execute(""), {TwoFloats()})); }

TEST_F(SessionExecuteTest, InAStreamsTurn) {
  MakeStreams();
  session().Do("allocate { buffer: 1 context: 1 size_bytes: 8 }");
  device().Hold(Work::kFill);
  session().Send("fill { destination { buffer: 1 row_bytes: 8 } pattern: 'x' stream: 1 }");
  const uint64_t on_stream = session().Send(Execute("stream: 1"), {TwoFloats()});
  ExpectResult(session().Do(Execute(""), {TwoFloats()}));  // beside everything
  EXPECT_FALSE(session().answers().contains(on_stream));
  device().Release(Work::kFill);
  ExpectResult(session().Await(on_stream));
}

TEST_F(SessionExecuteTest, TellsHowItWasExecutedWhenAsked) {
  MakeStreams();
  for (const std::string_view place : {"", "stream: 1"}) {
    const Reply reply = session().Do(Execute(place, "report_execution: true"), {TwoFloats()});
    ExpectResult(reply);
    const v1::Execution& execution = reply.last().outputs().execution();
    EXPECT_EQ(execution.device(), device().info().name);
    EXPECT_GE(execution.queued_ns(), 0);
    EXPECT_GE(execution.executed_ns(), 0);
  }
  EXPECT_FALSE(session().Do(Execute(""), {TwoFloats()}).last().outputs().has_execution());
}

TEST_F(SessionExecuteTest, AsValues) {
  const Reply reply =
      session().Do(Execute("output_encoding: TENSOR_ENCODING_VALUES"), {TwoFloats()});
  const v1::Tensor& out = reply.last().outputs().outputs(0);
  ASSERT_EQ(out.values().floats_size(), 2);
  EXPECT_EQ(out.values().floats(1), 0.7f);
  EXPECT_EQ(reply.last_raw().size(), 0u);
}

TEST_F(SessionExecuteTest, Errors) {
  MakeStreams();
  const auto refuse = [this](std::string_view command, std::string_view reason,
                             std::string_view parameter, const std::vector<std::string>& raw) {
    session().Refuse(command, reason, parameter, raw);
  };
  refuse("execute {}", "OPERATOR_NOT_FOUND", "operator", {});
  refuse(Execute(""), kInvalid, "self", {});
  refuse(Execute(""), kInvalid, "raw", {TwoFloats(), "more"});
  refuse(Execute(""), kInvalid, "self", {"short"});
  refuse(Execute("stream: 7"), kInvalid, "stream", {TwoFloats()});
  refuse(Execute("output_encoding: 9"), kInvalid, "output_encoding", {TwoFloats()});
  refuse(Execute("", "device: 'no:0'"), "DEVICE_NOT_FOUND", "device", {TwoFloats()});
  refuse(Execute("", "inputs { name: 'self' buffer { buffer: 1 } dtype: DATA_TYPE_FLOAT32 }"),
         kInvalid, "self", {TwoFloats()});
  EXPECT_THAT(session().Do("synchronize { context: 1 }"), IsOk());  // refused, not failed
}

TEST_F(SessionExecuteTest, AnAnswerThatFitsNoMessage) {
  limits_.max_message_bytes = 8192;
  const std::string call =
      "execute { call { op: 'L1Loss' attributes { name: 'reduction' int_value: 0 } "
      "inputs { name: 'self' dtype: DATA_TYPE_FLOAT32 shape: 2048 strides: 0 values { floats: 1 } "
      "} "
      "inputs { name: 'target' dtype: DATA_TYPE_FLOAT32 values { floats: 1 } } } }";
  session().Refuse(call, kLimit, "max_message_bytes");
}

TEST_F(SessionExecuteTest, AFailureOfTheStream) {
  MakeStreams();
  device().FailNext(Work::kKernel);
  const uint64_t failed = session().Send(Execute("stream: 1"), {TwoFloats()});
  EXPECT_EQ(session().Await(failed).reason(), kBroken);
  session().Refuse(Execute("stream: 1"), kStreamFailed, "stream", {TwoFloats()});
  EXPECT_EQ(session().Await(session().Send("synchronize { stream: 1 }")).last().failed_command(),
            failed);
  device().FailNext(Work::kKernel);
  EXPECT_EQ(session().Await(session().Send(Execute(""), {TwoFloats()})).reason(), kBroken);
  EXPECT_THAT(session().Do("synchronize { context: 1 }"), IsOk());  // on no stream
}

TEST_F(SessionExecuteTest, ACutDropsThoseThatWait) {
  device().Hold(Work::kKernel);
  for (int i = 0; i < 50; ++i) session().Send(Execute(""), {TwoFloats()});
  device().AwaitHeld(Work::kKernel, 2);  // its two workers; threads of relief may come, too
  session().Cut();
  device().Release(Work::kKernel);
  EndSession();
  EXPECT_LE(device().begun(Work::kKernel), 2 + WorkerPool::kMaxReliefThreads);
}

class TwoDevicesTest : public ::testing::Test {
 protected:
  TwoDevicesTest() : engine_(*Engine::Create({.devices = {DeviceSpec(), DeviceSpec()}})) {
    session_.Do("create_context { context: 2 device: 'cpu:1' }");
    session_.Do("create_stream { stream: 2 context: 2 }");
  }

  const std::unique_ptr<Engine> engine_;
  SessionHarness session_{*engine_, {}};
};

TEST_F(TwoDevicesTest, AStreamsDeviceRunsIt) {
  session_.Do(Execute("stream: 2"), {TwoFloats()});
  EXPECT_GT(engine_->devices()[1]->memory().stats().misses, 0);
  EXPECT_EQ(engine_->devices()[0]->memory().stats().misses, 0);
  session_.Do(Execute("stream: 2", "device: 'cpu:1'"), {TwoFloats()});
  session_.Refuse(Execute("stream: 2", "device: 'cpu:0'"), kInvalid, "device", {TwoFloats()});
}

TEST_F(TwoDevicesTest, NothingCrossesContexts) {
  session_.Do("create_context { context: 1 }");
  session_.Do("create_stream { stream: 1 context: 1 }");
  session_.Do("allocate { buffer: 1 context: 1 size_bytes: 8 }");
  session_.Do("allocate { buffer: 2 context: 2 size_bytes: 8 }");
  session_.Refuse(
      "copy { source { buffer: 1 row_bytes: 8 } destination { buffer: 2 row_bytes: 8 } stream: 1 }",
      kInvalid, "buffer");
  session_.Refuse(
      "copy { source { buffer: 1 row_bytes: 8 } destination { buffer: 2 row_bytes: 8 } stream: 2 }",
      kInvalid, "buffer");
  session_.Refuse("download { source { buffer: 1 row_bytes: 8 } stream: 2 }", kInvalid, "buffer");
  session_.Refuse("upload { destination { buffer: 1 } stream: 2 }", kInvalid, "buffer",
                  {"12345678"});
}

}  // namespace
}  // namespace opserve::testing
