// Executors on the real server, and what can be done wrong in a session.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/client/session/session_server.h"
#include "tests/client/status_text.h"
#include "tests/support/status_matchers.h"

namespace opserve::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Commands that fail.
class SessionMistakeTest : public SessionServerTest {
 protected:
  // An L1LossBackward of four elements into `out`.
  DeviceCall SmallCall(const DeviceTensor& out) {
    const std::vector<float> values = {1, 2, 3, 4};
    DeviceCall call("L1LossBackward");
    call.Input("grad_output", Put(TensorView::Of(values, {4})))
        .Input("self", Put(TensorView::Of(values, {4})))
        .Input("target", Put(TensorView::Of(values, {4})))
        .Attribute("reduction", 0)
        .Output("grad_input", out);
    return call;
  }

  void ExpectFails(const absl::Status& status, const std::string& part) {
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(Message(status), HasSubstr(part));
    EXPECT_EQ(stream_->Synchronize(), absl::OkStatus()) << "told once";
    EXPECT_EQ(session_->status(), absl::OkStatus());
  }
};

TEST_F(SessionMistakeTest, RepeatableExecutorsTakeOtherBuffers) {
  const DeviceTensor out = context_->NewTensor(DType::kFloat32, {4});
  Executor executor = context_->CreateExecutor(SmallCall(out), ExecutorUse::kRepeatable);
  stream_->Execute(executor);
  EXPECT_THAT(stream_->Download(out)->As<float>(), ElementsAre(0, 0, 0, 0));
  const std::vector<float> zeros(4);
  executor.SetTensor("target", Put(TensorView::Of(zeros, {4})));
  stream_->Execute(executor);
  EXPECT_THAT(stream_->Download(out)->As<float>(), ElementsAre(1, 2, 3, 4));
}

TEST_F(SessionMistakeTest, UseAfterFree) {
  const DeviceTensor x = context_->NewTensor(DType::kFloat32, {4});
  x.buffer.Free();
  EXPECT_FALSE(stream_->Download(x).ok());
  EXPECT_EQ(stream_->Fill(x, 1.0f), absl::OkStatus());
  ExpectFails(stream_->Synchronize(), "(Fill, command ");
}

TEST_F(SessionMistakeTest, ExecutorsRunOnce) {
  const DeviceTensor out = context_->NewTensor(DType::kFloat32, {4});
  const Executor executor = context_->CreateExecutor(SmallCall(out));
  stream_->Execute(executor);
  EXPECT_EQ(stream_->Synchronize(), absl::OkStatus());
  stream_->Execute(executor);
  ExpectFails(stream_->Synchronize(), "(RunExecutor of L1LossBackward, command ");
}

TEST_F(SessionMistakeTest, ExecutorsStayInTheirContext) {
  const DeviceTensor out = context_->NewTensor(DType::kFloat32, {4});
  const Executor executor = context_->CreateExecutor(SmallCall(out));
  Context other = session_->CreateContext();
  Stream foreign = other.CreateStream();
  foreign.Execute(executor);
  EXPECT_THAT(Message(foreign.Synchronize()), HasSubstr("executor"));
}

TEST_F(SessionMistakeTest, EventsThatWereNeverRecorded) {
  stream_->Wait(context_->CreateEvent());
  ExpectFails(stream_->Synchronize(), "(Wait, command ");
}

TEST_F(SessionMistakeTest, WorkspacesThatAreTooSmall) {
  const std::vector<float> x = Random(512, 9);
  DeviceCall call("GroupNormBackward");
  const DeviceTensor input = Put(TensorView::Of(x, {2, 4, 64}));
  const DeviceTensor statistics = context_->NewTensor(DType::kFloat32, {2, 2});
  EXPECT_EQ(stream_->Fill(statistics, 1.0f), absl::OkStatus());
  call.Input("grad_out", input).Input("input", input);
  call.Input("mean", statistics).Input("rstd", statistics);
  call.Attribute("N", 2).Attribute("C", 4).Attribute("HxW", 64).Attribute("group", 2);
  call.Attribute("output_mask", std::vector<bool>{true, true, true});
  const Executor executor = context_->CreateExecutor(call, ExecutorUse::kRepeatable);
  const absl::StatusOr<int64_t> bytes = executor.workspace_bytes();
  ASSERT_THAT(bytes, testing::IsOk());
  ASSERT_GT(*bytes, 0);
  ReceiveOptions small;
  small.workspace = context_->Allocate(*bytes - 1);
  EXPECT_THAT(Message(stream_->ExecuteAndReceive(executor, std::move(small)).status()),
              HasSubstr("workspace"));
  ReceiveOptions enough;
  enough.workspace = context_->Allocate(*bytes);
  EXPECT_THAT(stream_->ExecuteAndReceive(executor, std::move(enough)), testing::IsOk());
}

TEST_F(SessionMistakeTest, BadCallsAreFoundInPhaseOne) {
  const Executor executor = context_->CreateExecutor(DeviceCall("SmothL1LossBackward"));
  EXPECT_THAT(Message(executor.plan().status()), HasSubstr("did you mean"));
  stream_->Execute(executor);
  EXPECT_THAT(Message(stream_->Synchronize()), HasSubstr("command "));
  EXPECT_THAT(Message(session_->CreateContext("npu:7").Synchronize()), HasSubstr("npu:7"));
}

}  // namespace
}  // namespace opserve::client
