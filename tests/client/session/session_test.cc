// Commands and answers of a session, against a fake server.
#include <opserve/session.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/base/clock.h"
#include "core/base/op_error.h"
#include "core/base/waiter.h"
#include "tests/client/session/fake_session_server.h"
#include "tests/client/status_text.h"
#include "tests/support/status_matchers.h"

namespace opserve::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<v1::Command::CommandCase> Kinds(const std::vector<ReceivedCommand>& commands) {
  std::vector<v1::Command::CommandCase> kinds;
  kinds.reserve(commands.size());
  for (const ReceivedCommand& command : commands) kinds.push_back(command.message.command_case());
  return kinds;
}

TEST(SessionTest, BeginsWithTheServersLimitsAndEndsWell) {
  const FakeSessionServer server;
  Session session = Open(server);
  EXPECT_EQ(session.info().recommended_chunk_bytes, 1000);
  EXPECT_EQ(session.info().max_message_bytes, 1 << 20);
  EXPECT_THAT(session.status(), testing::IsOk());
  EXPECT_FALSE(session.draining());
  EXPECT_EQ(session.Close(), absl::OkStatus());
  EXPECT_EQ(session.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(session.Execute(Call("Op")).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(SessionTest, CommandsGoOutInOrderWithoutAWait) {
  const FakeSessionServer server;
  Session session = Open(server);
  {
    Context context = session.CreateContext("cpu:1");
    Stream stream = context.CreateStream(OnFailure::kContinue);
    const Event event = context.CreateEvent();
    DeviceTensor x = context.NewTensor(DType::kFloat32, {2, 3});
    stream.Record(event);
    stream.Wait(event);
    EXPECT_EQ(stream.Fill(x, 1.5f), absl::OkStatus());
  }
  EXPECT_EQ(session.Close(), absl::OkStatus());
  const std::vector<ReceivedCommand> received = server.received();
  EXPECT_THAT(Kinds(received),
              ElementsAre(v1::Command::kCreateContext, v1::Command::kCreateStream,
                          v1::Command::kCreateEvent, v1::Command::kAllocate,
                          v1::Command::kRecordEvent, v1::Command::kWaitEvent, v1::Command::kFill,
                          v1::Command::kFree, v1::Command::kDestroyEvent,
                          v1::Command::kDestroyStream, v1::Command::kDestroyContext));
  for (size_t i = 0; i < received.size(); ++i) {
    EXPECT_EQ(received[i].message.id(), i + 1);
    EXPECT_TRUE(received[i].message.quiet());
  }
  EXPECT_EQ(received[0].message.create_context().device(), "cpu:1");
  EXPECT_EQ(received[1].message.create_stream().context(),
            received[0].message.create_context().context());
  EXPECT_EQ(received[1].message.create_stream().on_failure(), v1::ON_FAILURE_CONTINUE);
  EXPECT_EQ(received[3].message.allocate().size_bytes(), 24);
  EXPECT_EQ(received[4].message.record_event().stream(),
            received[1].message.create_stream().stream());
  EXPECT_EQ(received[6].message.fill().pattern(), std::string("\0\0\xc0\x3f", 4));
  EXPECT_EQ(received[6].message.fill().destination().buffer(),
            received[3].message.allocate().buffer());
  EXPECT_EQ(received[6].message.fill().destination().row_bytes(), 24);
  EXPECT_EQ(received[7].message.free().buffer(), received[3].message.allocate().buffer());
}

TEST(SessionTest, ManyThreadsShareOneSession) {
  const FakeSessionServer server;
  Session session = Open(server);
  constexpr size_t kThreads = 8;
  constexpr size_t kEach = 50;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&session] {
      Context context = session.CreateContext();
      for (size_t j = 0; j < kEach; ++j)
        EXPECT_THAT(context.CreateStream().Synchronize(), testing::IsOk());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(session.Close(), absl::OkStatus());
  const std::vector<ReceivedCommand> received = server.received();
  ASSERT_EQ(received.size(), kThreads * (2 + 3 * kEach));
  std::set<uint64_t> objects;
  for (size_t i = 0; i < received.size(); ++i) {
    const v1::Command& command = received[i].message;
    EXPECT_EQ(command.id(), i + 1);
    if (command.has_create_stream()) objects.insert(command.create_stream().stream());
  }
  EXPECT_EQ(objects.size(), kThreads * kEach);
}

TEST(SessionTest, CopiesOfHandlesShareTheObjectAndKeepItsContext) {
  const FakeSessionServer server;
  Session session = Open(server);
  std::optional<Stream> stream(session.CreateContext().CreateStream());
  Stream copy = *stream;
  stream.reset();
  EXPECT_EQ(copy.Synchronize(), absl::OkStatus());
  EXPECT_THAT(Kinds(server.received()),
              ElementsAre(v1::Command::kCreateContext, v1::Command::kCreateStream,
                          v1::Command::kSynchronize));
}

TEST(SessionTest, HandlesMayOutliveTheirSession) {
  const FakeSessionServer server;
  std::optional<Session> session(Open(server));
  Context context = session->CreateContext();
  Stream stream = context.CreateStream();
  const DeviceTensor x = context.NewTensor(DType::kFloat32, {2});
  session.reset();
  EXPECT_EQ(stream.Synchronize().code(), absl::StatusCode::kCancelled);
  const std::vector<float> values = {1, 2};
  EXPECT_FALSE(stream.Upload(x, TensorView::Of(values, {2})).ok());
  EXPECT_FALSE(stream.Download(x).ok());
  stream.Record(context.CreateEvent());
}

int TellStates(const ReceivedCommand& received, const SendAnswer& send) {
  const v1::Command& command = received.message;
  v1::Answer answer = AnswerTo(received);
  if (command.has_query_stream()) answer.mutable_stream()->set_idle(true);
  if (command.has_query_event()) answer.mutable_event()->set_reached(true);
  if (command.has_query_elapsed_time()) answer.mutable_elapsed_time()->set_elapsed_ns(250'000'000);
  if (command.has_query_memory()) {
    answer.mutable_memory()->set_peak_bytes(3);
    answer.mutable_memory()->mutable_device()->set_cached_bytes(4);
  }
  if (!command.quiet()) send(answer);
  return 0;
}

TEST(SessionTest, AnswersQueries) {
  const FakeSessionServer server(TellStates);
  Session session = Open(server);
  Context context = session.CreateContext();
  const Event start = context.CreateEvent();
  const Event end = context.CreateEvent();
  EXPECT_TRUE(*context.CreateStream().Query());
  EXPECT_TRUE(*start.Query());
  EXPECT_EQ(start.Synchronize(), absl::OkStatus());
  EXPECT_EQ(*start.TimeUntil(end), absl::Milliseconds(250));
  EXPECT_EQ(context.QueryMemory()->peak_bytes, 3);
  EXPECT_EQ(context.QueryMemory()->device.cached_bytes, 4);
}

int PlanTwoOutputs(const ReceivedCommand& command, const SendAnswer& send) {
  v1::Answer answer = AnswerTo(command);
  if (command.message.has_create_executor()) {
    answer.mutable_executor()->set_workspace_bytes(640);
    for (const char* name : {"y", "masked"}) {
      v1::Tensor& output = *answer.mutable_executor()->add_outputs();
      output.set_name(name);
      output.set_dtype(v1::DATA_TYPE_FLOAT32);
      output.add_shape(name[0] == 'y' ? 2 : 0);
    }
  }
  if (command.message.has_run_executor() && !command.message.quiet()) {
    answer.set_more(true);
    for (int i = 0; i < 2; ++i) {
      answer.mutable_chunk()->set_output("y");
      answer.mutable_chunk()->set_offset_bytes(i == 0 ? 0 : 3);
      send(answer,
           {std::string("\0\0\x80\x3f\0\0\0\x40", 8).substr(i == 0 ? 0 : 3, i == 0 ? 3 : 5)});
    }
    answer = AnswerTo(command);
  }
  if (!command.message.quiet()) send(answer);
  return 0;
}

TEST(SessionTest, PlansAndExecutes) {
  const FakeSessionServer server(PlanTwoOutputs);
  Session session = Open(server);
  Context context = session.CreateContext();
  Stream stream = context.CreateStream();
  const DeviceBuffer memory = context.Allocate(1000);
  const auto x = DeviceTensor::Of(memory, DType::kBFloat16, {4, 2}, 64).WithStrides({1, 4}, 8);
  Executor executor =
      context.CreateExecutor(DeviceCall("Op")
                                 .Input("x", x)
                                 .Output("y", context.NewTensor(DType::kFloat32, {2}))
                                 .Attribute("beta", 0.5),
                             ExecutorUse::kRepeatable);
  EXPECT_EQ(*executor.workspace_bytes(), 640);
  EXPECT_EQ(executor.plan()->outputs[1].name, "masked");
  executor.SetTensor("x", DeviceTensor::Of(memory, DType::kBFloat16, {}, 128));
  stream.Execute(executor, memory, 256);
  const absl::StatusOr<ExecuteResult> result = stream.ExecuteAndReceive(executor);
  ASSERT_THAT(result, testing::IsOk());
  EXPECT_THAT(result->Find("y")->As<float>(), ElementsAre(1, 2));
  EXPECT_EQ(result->Find("masked")->num_elements(), 0);

  const v1::CreateExecutorCommand create =
      server.received(v1::Command::kCreateExecutor)[0].message.create_executor();
  EXPECT_TRUE(create.repeatable());
  EXPECT_EQ(create.call().op(), "Op");
  EXPECT_EQ(create.call().attributes(0).float_value(), 0.5);
  EXPECT_EQ(create.call().inputs(0).buffer().offset_bytes(), 64);
  EXPECT_EQ(create.call().inputs(0).storage_offset(), 8);
  EXPECT_THAT(create.call().inputs(0).strides(), ElementsAre(1, 4));
  EXPECT_EQ(create.call().outputs(0).name(), "y");
  EXPECT_NE(create.call().outputs(0).buffer().buffer(), 0u);
  const auto set = server.received(v1::Command::kSetTensors)[0].message.set_tensors().tensors(0);
  EXPECT_EQ(set.name(), "x");
  EXPECT_EQ(set.buffer().offset_bytes(), 128);
  const std::vector<ReceivedCommand> runs = server.received(v1::Command::kRunExecutor);
  EXPECT_EQ(runs[0].message.run_executor().workspace().offset_bytes(), 256);
  EXPECT_TRUE(runs[0].message.quiet());
  EXPECT_TRUE(runs[1].message.run_executor().send_outputs());
}

TEST(SessionTest, ExecutorsKeepTheirBuffers) {
  const FakeSessionServer server(PlanTwoOutputs);
  Session session = Open(server);
  Context context = session.CreateContext();
  // Often enough to meet the thread that reads answers at every point of its work.
  for (size_t i = 0; i < 200; ++i) {
    std::optional<Executor> executor(context.CreateExecutor(
        DeviceCall("Op").Input("x", context.NewTensor(DType::kFloat32, {2}))));
    EXPECT_THAT(executor->plan(), testing::IsOk());
    EXPECT_EQ(server.received(v1::Command::kFree).size(), i);
    executor.reset();
    EXPECT_EQ(context.Synchronize(), absl::OkStatus());
    ASSERT_EQ(server.received(v1::Command::kFree).size(), i + 1);
    EXPECT_EQ(server.received(v1::Command::kDestroyExecutor).size(), i + 1);
  }
}

int EchoCall(const ReceivedCommand& command, const SendAnswer& send) {
  if (!command.message.has_execute()) return AnswerAll(command, send);
  v1::Answer answer = AnswerTo(command);
  v1::Tensor& output = *answer.mutable_outputs()->add_outputs();
  output = command.message.execute().call().inputs(0);
  output.set_name("out");
  const std::string& bytes = command.raw.at(output.raw_index());
  output.set_raw_index(0);
  send(answer, {bytes});
  return 0;
}

TEST(SessionTest, ManyCallsAreUnderWayAtOnce) {
  const FakeSessionServer server(EchoCall);
  Session session = Open(server);
  constexpr int kCalls = 500;
  std::vector<std::vector<float>> inputs;
  inputs.reserve(kCalls);
  for (int i = 0; i < kCalls; ++i) inputs.emplace_back(i % 2 == 0 ? 4 : 4000, i);
  std::atomic<int> good = 0;
  std::atomic<int> all = 0;
  Waiter<bool> ended;
  for (int i = 0; i < kCalls; ++i) {
    const std::vector<float>& input = inputs[static_cast<size_t>(i)];
    const auto done = [&, i](const absl::StatusOr<ExecuteResult>& result) {
      if (result.ok() && result->Find("out")->As<float>().back() == static_cast<float>(i)) ++good;
      if (++all == kCalls) ended.Set(true);
    };
    const std::vector<int64_t> shape = {static_cast<int64_t>(input.size())};
    session.ExecuteAsync(Call("Op").Input("x", TensorView::Of(input, shape)), done);
  }
  ended.Wait(absl::InfiniteFuture());
  EXPECT_EQ(good, kCalls);
}

TEST(SessionTest, SmallCommandsThatWaitGoTogether) {
  const FakeSessionServer server(EchoCall);
  Session session = Open(server);
  constexpr int kCalls = 2000;
  std::vector<float> inputs(kCalls);
  std::iota(inputs.begin(), inputs.end(), 0.0f);
  std::atomic<int> good = 0;
  std::atomic<int> all = 0;
  Waiter<bool> ended;
  for (int i = 0; i < kCalls; ++i) {
    const TensorView input = TensorView::Of(std::span(inputs).subspan(i, 1), {1});
    session.ExecuteAsync(Call("Op").Input("x", input),
                         [&, i](const absl::StatusOr<ExecuteResult>& result) {
                           const auto want = static_cast<float>(i);
                           if (result.ok() && result->Find("out")->As<float>()[0] == want) ++good;
                           if (++all == kCalls) ended.Set(true);
                         });
  }
  ended.Wait(absl::InfiniteFuture());
  EXPECT_EQ(good, kCalls);
  EXPECT_GT(server.groups(), 0);
  const std::vector<ReceivedCommand> received = server.received();
  ASSERT_EQ(received.size(), size_t{kCalls});
  for (size_t i = 0; i < received.size(); ++i) EXPECT_EQ(received[i].message.id(), i + 1);
}

TEST(SessionTest, WhatIsNotWaitedForGoesWithWhatIs) {
  const FakeSessionServer server;
  Session session = Open(server);
  Context context = session.CreateContext();
  Stream stream = context.CreateStream();
  const Event event = context.CreateEvent();
  EXPECT_THAT(stream.Synchronize(), testing::IsOk());
  constexpr int kRounds = 100;
  for (int i = 0; i < kRounds; ++i) {
    stream.Record(event);
    EXPECT_THAT(stream.Synchronize(), testing::IsOk());
  }
  EXPECT_GT(server.groups(), kRounds / 4) << "the others met the end of a wait";
}

TEST(SessionTest, WhatIsNotWaitedForLeavesByItself) {
  const FakeSessionServer server;
  Session session = Open(server);
  Context context = session.CreateContext();
  std::vector<Stream> streams;
  streams.reserve(20);
  while (streams.size() < 20) {
    const size_t sent = 1 + streams.size();
    server.WaitUntil(
        [&](const std::vector<ReceivedCommand>& received) { return received.size() == sent; });
    streams.push_back(context.CreateStream());
  }
}

// The fake stops reading while it cannot write: the client must read whatever it sends.
TEST(SessionTest, BothDirectionsMayBeFull) {
  const FakeSessionServer server(EchoCall);
  Session session = Open(server);
  const std::vector<float> large(200000, 1.0f);
  constexpr int kCalls = 100;
  std::atomic<int> all = 0;
  Waiter<bool> ended;
  for (int i = 0; i < kCalls; ++i) {
    session.ExecuteAsync(Call("Op").Input("x", TensorView::Of(large, {200000})),
                         [&](const absl::StatusOr<ExecuteResult>& result) {
                           EXPECT_THAT(result, testing::IsOk());
                           if (++all == kCalls) ended.Set(true);
                         });
  }
  EXPECT_TRUE(ended.Wait(Clock::Real().Now() + absl::Seconds(60)).has_value());
}

TEST(SessionTest, CallsOnStreamsNameThem) {
  const FakeSessionServer server(EchoCall);
  Session session = Open(server);
  Stream stream = session.CreateContext().CreateStream();
  const std::vector<float> values = {1, 2};
  EXPECT_THAT(stream.Execute(Call("Op").Input("x", TensorView::Of(values, {2}))), testing::IsOk());
  EXPECT_EQ(server.received(v1::Command::kExecute)[0].message.execute().stream(),
            server.received(v1::Command::kCreateStream)[0].message.create_stream().stream());
}

TEST(SessionTest, CallsLargerThanAMessageAreRefusedHere) {
  const FakeSessionServer server(EchoCall);
  Session session = Open(server);
  const std::vector<float> large(1 << 18);
  const absl::Status status =
      session.Execute(Call("Op").Input("x", TensorView::Of(large, {1 << 18}))).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(Message(status), HasSubstr("Execute of Op: want a message of at most 1048576 bytes"));
  EXPECT_THAT(session.status(), testing::IsOk());
  EXPECT_TRUE(server.received().empty());
}

}  // namespace
}  // namespace opserve::client
