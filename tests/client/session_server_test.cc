// Sessions of the C++ client on the real server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "client/cpp/session.h"
#include "client/cpp/waiter.h"
#include "core/base/strings.h"
#include "tests/server/test_server.h"

namespace opserve::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Message(const absl::Status& status) { return std::string(ToStd(status.message())); }

std::vector<float> Random(size_t count, uint32_t seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-3.0f, 3.0f);
  std::vector<float> values(count);
  for (float& value : values) value = uniform(generator);
  return values;
}

// The same bits.
void ExpectSame(const Tensor& a, const Tensor& b) {
  ASSERT_TRUE(SameShape(a.shape(), b.shape()));
  ASSERT_EQ(a.dtype(), b.dtype());
  EXPECT_TRUE(std::equal(a.bytes().begin(), a.bytes().end(), b.bytes().begin()));
}

class SessionServerTest : public opserve::testing::ServerTest {
 protected:
  void SetUp() override {
    ServerTest::SetUp();
    client_.emplace(*Client::Connect(server().addresses()[1]));
    absl::StatusOr<Session> session = client_->OpenSession();
    ASSERT_TRUE(session.ok()) << session.status();
    session_.emplace(*std::move(session));
    context_.emplace(session_->CreateContext());
    stream_.emplace(context_->CreateStream());
  }

  DeviceTensor Put(const TensorView& view) {
    DeviceTensor tensor = context_->NewTensor(view.dtype, view.shape);
    EXPECT_EQ(stream_->Upload(tensor, view), absl::OkStatus());
    return tensor;
  }

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

  std::optional<Client> client_;
  std::optional<Session> session_;
  std::optional<Context> context_;
  std::optional<Stream> stream_;
};

TEST_F(SessionServerTest, TheSample) {
  const std::vector<float> ones(8, 1.0f);
  const std::vector<float> self = {0, 1, 2, 3, 4, 5, 6, 7};
  const DeviceTensor out = context_->NewTensor(DType::kFloat32, {4, 2});
  const Executor executor =
      context_->GetWorkspaceSize(DeviceCall("SmoothL1LossBackward")
                                     .Input("grad_out", Put(TensorView::Of(ones, {4, 2})))
                                     .Input("self", Put(TensorView::Of(self, {4, 2})))
                                     .Input("target", Put(TensorView::Of(ones, {4, 2})))
                                     .Attribute("reduction", 0)
                                     .Attribute("beta", 1.0)
                                     .Output("grad_input", out));
  stream_->Execute(executor);
  EXPECT_EQ(stream_->Synchronize(), absl::OkStatus());
  const absl::StatusOr<Tensor> gradient = stream_->Download(out);
  ASSERT_TRUE(gradient.ok()) << gradient.status();
  EXPECT_THAT(gradient->As<float>(), ElementsAre(-1, 0, 1, 1, 1, 1, 1, 1));
  EXPECT_EQ(session_->Close(), absl::OkStatus());
  ExpectAliveAndEmpty();
}

// Forward and backward with what lies between on the device, against the same by one message each.
TEST_F(SessionServerTest, GroupNormAndItsGradient) {
  const std::vector<float> x = Random(2 * 6 * 10, 1);
  const std::vector<float> grad = Random(2 * 6 * 10, 2);
  const std::vector<float> gamma = Random(6, 3);
  const auto attributes = [](auto& call) {
    call.Attribute("N", 2).Attribute("C", 6).Attribute("HxW", 10).Attribute("group", 3);
  };
  Call forward("GroupNorm");
  forward.Input("self", TensorView::Of(x, {2, 6, 10})).Input("gamma", TensorView::Of(gamma, {6}));
  attributes(forward);
  const absl::StatusOr<ExecuteResult> middle = client_->Execute(forward.Attribute("eps", 1e-5));
  ASSERT_TRUE(middle.ok()) << middle.status();
  Call backward("GroupNormBackward");
  backward.Input("grad_out", TensorView::Of(grad, {2, 6, 10}))
      .Input("input", TensorView::Of(x, {2, 6, 10}))
      .Input("mean", middle->Find("mean")->View())
      .Input("rstd", middle->Find("rstd")->View())
      .Input("gamma", TensorView::Of(gamma, {6}))
      .Attribute("output_mask", std::vector<bool>{true, false, true});
  attributes(backward);
  const absl::StatusOr<ExecuteResult> expected = client_->Execute(backward);
  ASSERT_TRUE(expected.ok()) << expected.status();

  const DeviceTensor input = Put(TensorView::Of(x, {2, 6, 10}));
  const DeviceTensor scale = Put(TensorView::Of(gamma, {6}));
  const DeviceTensor out = context_->NewTensor(DType::kFloat32, {2, 6, 10});
  const DeviceTensor mean = context_->NewTensor(DType::kFloat32, {2, 3});
  const DeviceTensor rstd = context_->NewTensor(DType::kFloat32, {2, 3});
  DeviceCall first("GroupNorm");
  first.Input("self", input).Input("gamma", scale).Attribute("eps", 1e-5);
  first.Output("out", out).Output("mean", mean).Output("rstd", rstd);
  attributes(first);
  DeviceCall second("GroupNormBackward");
  second.Input("grad_out", Put(TensorView::Of(grad, {2, 6, 10})))
      .Input("input", input)
      .Input("mean", mean)
      .Input("rstd", rstd)
      .Input("gamma", scale)
      .Attribute("output_mask", std::vector<bool>{true, false, true});
  attributes(second);
  stream_->Execute(context_->GetWorkspaceSize(first));
  const absl::StatusOr<ExecuteResult> result =
      stream_->ExecuteAndReceive(context_->GetWorkspaceSize(second));
  ASSERT_TRUE(result.ok()) << result.status();
  for (const NamedTensor& output : expected->outputs) {
    ASSERT_NE(result->Find(output.name), nullptr);
    ExpectSame(*result->Find(output.name), output.tensor);
  }
  EXPECT_EQ(result->Find("grad_gamma")->num_elements(), 0);
}

TEST_F(SessionServerTest, CtcLossAndItsGradient) {
  constexpr int64_t kT = 12;
  constexpr int64_t kN = 3;
  constexpr int64_t kC = 5;
  const std::vector<float> log_probs = Random(kT * kN * kC, 4);
  const std::vector<int64_t> targets = {1, 2, 3, 4, 1, 1, 2, 2, 3};
  const std::vector<float> grad = {1, 2, 3};
  const auto attributes = [](auto& call) {
    call.Attribute("input_lengths", std::vector<int64_t>{12, 11, 10})
        .Attribute("target_lengths", std::vector<int64_t>{3, 2, 3})
        .Attribute("blank", 0)
        .Attribute("zero_infinity", false);
  };
  Call forward("CtcLoss");
  forward.Input("log_probs", TensorView::Of(log_probs, {kT, kN, kC}))
      .Input("targets", TensorView::Of(targets, {kN, 3}));
  attributes(forward);
  const absl::StatusOr<ExecuteResult> middle = client_->Execute(forward);
  ASSERT_TRUE(middle.ok()) << middle.status();
  Call backward("CtcLossBackward");
  backward.Input("grad_out", TensorView::Of(grad, {kN}))
      .Input("log_probs", TensorView::Of(log_probs, {kT, kN, kC}))
      .Input("targets", TensorView::Of(targets, {kN, 3}))
      .Input("neg_log_likelihood", middle->Find("neg_log_likelihood")->View())
      .Input("log_alpha", middle->Find("log_alpha")->View());
  attributes(backward);
  const absl::StatusOr<ExecuteResult> expected = client_->Execute(backward);
  ASSERT_TRUE(expected.ok()) << expected.status();

  const DeviceTensor probs = Put(TensorView::Of(log_probs, {kT, kN, kC}));
  const DeviceTensor labels = Put(TensorView::Of(targets, {kN, 3}));
  const DeviceTensor loss = context_->NewTensor(DType::kFloat32, {kN});
  const DeviceTensor alpha =
      context_->NewTensor(DType::kFloat32, middle->Find("log_alpha")->shape());
  DeviceCall first("CtcLoss");
  first.Input("log_probs", probs).Input("targets", labels);
  first.Output("neg_log_likelihood", loss).Output("log_alpha", alpha);
  attributes(first);
  const DeviceTensor gradient = context_->NewTensor(DType::kFloat32, {kT, kN, kC});
  DeviceCall second("CtcLossBackward");
  second.Input("grad_out", Put(TensorView::Of(grad, {kN})))
      .Input("log_probs", probs)
      .Input("targets", labels)
      .Input("neg_log_likelihood", loss)
      .Input("log_alpha", alpha)
      .Output("grad", gradient);
  attributes(second);
  stream_->Execute(context_->GetWorkspaceSize(first));
  stream_->Execute(context_->GetWorkspaceSize(second));
  const absl::StatusOr<Tensor> result = stream_->Download(gradient);
  ASSERT_TRUE(result.ok()) << result.status();
  ExpectSame(*result, *expected->Find("grad"));
}

TEST_F(SessionServerTest, EventsOrderStreams) {
  Stream other = context_->CreateStream();
  const Event start = context_->CreateEvent();
  const Event filled = context_->CreateEvent();
  const DeviceTensor source = context_->NewTensor(DType::kInt32, {1 << 20});
  const DeviceTensor copy = context_->NewTensor(DType::kInt32, {1 << 20});
  stream_->Record(start);
  for (int32_t i = 1; i <= 20; ++i) EXPECT_EQ(stream_->Fill(source, i), absl::OkStatus());
  stream_->Record(filled);
  other.Wait(filled);
  EXPECT_EQ(other.Copy(source, copy), absl::OkStatus());
  const absl::StatusOr<Tensor> values = other.Download(copy);
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_EQ(values->As<int32_t>().front(), 20);
  EXPECT_EQ(values->As<int32_t>().back(), 20);
  EXPECT_TRUE(*filled.Query());
  EXPECT_EQ(filled.Synchronize(), absl::OkStatus());
  const absl::StatusOr<absl::Duration> took = start.TimeUntil(filled);
  ASSERT_TRUE(took.ok()) << took.status();
  EXPECT_GT(*took, absl::ZeroDuration());
  EXPECT_EQ(stream_->Synchronize(), absl::OkStatus());
  while (!*stream_->Query()) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_GE(context_->QueryMemory()->peak_bytes, int64_t{8} << 20);
}

TEST_F(SessionServerTest, LargeTensorsGoInChunks) {
  constexpr int64_t kCount = (10 << 20) + 3;
  std::vector<float> values(kCount);
  std::iota(values.begin(), values.end(), 0.0f);
  const DeviceTensor x = Put(TensorView::Of(values, {kCount}));
  const absl::StatusOr<Tensor> back = stream_->Download(x);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(std::memcmp(back->bytes().data(), values.data(), kCount * 4), 0);
  // Each other element, into the caller's memory.
  const auto even =
      DeviceTensor::Of(x.buffer, DType::kFloat32, {1000}).WithStrides({2}, kCount - 2000);
  std::vector<float> part(1000);
  EXPECT_EQ(stream_->DownloadTo(even, std::as_writable_bytes(std::span(part))), absl::OkStatus());
  for (size_t i = 0; i < part.size(); ++i) ASSERT_EQ(part[i], values[kCount - 2000 + 2 * i]);
}

TEST_F(SessionServerTest, ChunkedCallsAreTheSameBitsAsWhole) {
  constexpr int64_t kRows = 3000;
  const std::vector<float> grad = Random(kRows * 512, 5);
  const std::vector<float> self = Random(kRows * 512, 6);
  const std::vector<float> target = Random(512, 7);
  Call call("SmoothL1LossBackward");
  call.Input("grad_out", TensorView::Of(grad, {kRows, 512}))
      .Input("self", TensorView::Of(self, {kRows, 512}))
      .Input("target", TensorView::Of(target, {512}))
      .Attribute("reduction", 0)
      .Attribute("beta", 0.75);
  const absl::StatusOr<ExecuteResult> whole = client_->Execute(call);
  ASSERT_TRUE(whole.ok()) << whole.status();
  const absl::StatusOr<ExecuteResult> chunked = session_->ExecuteChunked(call);
  ASSERT_TRUE(chunked.ok()) << chunked.status();
  ExpectSame(*chunked->Find("grad_input"), *whole->Find("grad_input"));
}

TEST_F(SessionServerTest, ChunkedCallsOfSeveralDTypes) {
  constexpr int64_t kCount = 3 << 20;
  std::vector<BFloat16> grad(kCount, BFloat16(1.0f));
  const std::vector<float> self = Random(kCount, 8);
  Call call("HardshrinkBackward");
  call.Input("grad_output", TensorView::Of(grad, {kCount}))
      .Input("self", TensorView::Of(self, {kCount}))
      .Attribute("lambd", 0.5);
  const absl::StatusOr<ExecuteResult> whole = client_->Execute(call);
  ASSERT_TRUE(whole.ok()) << whole.status();
  const absl::StatusOr<ExecuteResult> chunked = session_->ExecuteChunked(call);
  ASSERT_TRUE(chunked.ok()) << chunked.status();
  ExpectSame(chunked->outputs[0].tensor, whole->outputs[0].tensor);
}

TEST_F(SessionServerTest, ChunkedCallsThatCannotBeAreRefused) {
  const std::vector<float> values(8);
  Call call("L1Loss");
  call.Input("self", TensorView::Of(values, {8})).Input("target", TensorView::Of(values, {8}));
  call.Attribute("reduction", 1);
  EXPECT_THAT(Message(session_->ExecuteChunked(call).status()), HasSubstr("reduction none"));
  ChunkedOptions options;
  options.sources.emplace_back("self", [](int64_t /*offset*/, std::span<std::byte> /*chunk*/) {
    return absl::DataLossError("unreadable");
  });
  Call other("Hardshrink");
  other.Input("self", TensorView::OfBytes(DType::kFloat32, std::vector<int64_t>{8}, {}))
      .Attribute("lambd", 0.5);
  EXPECT_EQ(session_->ExecuteChunked(other, std::move(options)).status(),
            absl::DataLossError("unreadable"));
  EXPECT_EQ(stream_->Synchronize(), absl::OkStatus());
}

TEST_F(SessionServerTest, HundredsOfInlineCalls) {
  constexpr int kCalls = 300;
  const std::vector<float> ones(8, 1.0f);
  std::vector<std::vector<float>> selves;
  for (int i = 0; i < kCalls; ++i) selves.emplace_back(8, static_cast<float>(i));
  std::atomic<int> good = 0;
  std::atomic<int> all = 0;
  Waiter<bool> ended;
  for (int i = 0; i < kCalls; ++i) {
    Call call("HardshrinkBackward");
    call.Input("grad_output", TensorView::Of(ones, {8}))
        .Input("self", TensorView::Of(selves[static_cast<size_t>(i)], {8}))
        .Attribute("lambd", 100.0);
    session_->ExecuteAsync(call, [&, i](const absl::StatusOr<ExecuteResult>& result) {
      if (result.ok() && result->outputs[0].tensor.As<float>()[7] == (i > 100 ? 1.0f : 0.0f))
        ++good;
      if (++all == kCalls) ended.Set(true);
    });
  }
  ended.Wait(absl::InfiniteFuture());
  EXPECT_EQ(good, kCalls);
}

TEST_F(SessionServerTest, RepeatableExecutorsTakeOtherBuffers) {
  const DeviceTensor out = context_->NewTensor(DType::kFloat32, {4});
  Executor executor = context_->GetWorkspaceSize(SmallCall(out), ExecutorUse::kRepeatable);
  stream_->Execute(executor);
  EXPECT_THAT(stream_->Download(out)->As<float>(), ElementsAre(0, 0, 0, 0));
  const std::vector<float> zeros(4);
  executor.SetTensor("target", Put(TensorView::Of(zeros, {4})));
  stream_->Execute(executor);
  EXPECT_THAT(stream_->Download(out)->As<float>(), ElementsAre(1, 2, 3, 4));
}

TEST_F(SessionServerTest, UseAfterFree) {
  const DeviceTensor x = context_->NewTensor(DType::kFloat32, {4});
  x.buffer.Free();
  EXPECT_FALSE(stream_->Download(x).ok());
  EXPECT_EQ(stream_->Fill(x, 1.0f), absl::OkStatus());
  ExpectFails(stream_->Synchronize(), "(Fill, command ");
}

TEST_F(SessionServerTest, ExecutorsRunOnce) {
  const DeviceTensor out = context_->NewTensor(DType::kFloat32, {4});
  const Executor executor = context_->GetWorkspaceSize(SmallCall(out));
  stream_->Execute(executor);
  EXPECT_EQ(stream_->Synchronize(), absl::OkStatus());
  stream_->Execute(executor);
  ExpectFails(stream_->Synchronize(), "(Execute of L1LossBackward, command ");
}

TEST_F(SessionServerTest, ExecutorsStayInTheirContext) {
  const DeviceTensor out = context_->NewTensor(DType::kFloat32, {4});
  const Executor executor = context_->GetWorkspaceSize(SmallCall(out));
  Context other = session_->CreateContext();
  Stream foreign = other.CreateStream();
  foreign.Execute(executor);
  EXPECT_THAT(Message(foreign.Synchronize()), HasSubstr("executor"));
}

TEST_F(SessionServerTest, EventsThatWereNeverRecorded) {
  stream_->Wait(context_->CreateEvent());
  ExpectFails(stream_->Synchronize(), "(Wait, command ");
}

TEST_F(SessionServerTest, WorkspacesThatAreTooSmall) {
  const std::vector<float> x = Random(2 * 4 * 64, 9);
  DeviceCall call("GroupNormBackward");
  const DeviceTensor input = Put(TensorView::Of(x, {2, 4, 64}));
  const DeviceTensor statistics = context_->NewTensor(DType::kFloat32, {2, 2});
  EXPECT_EQ(stream_->Fill(statistics, 1.0f), absl::OkStatus());
  call.Input("grad_out", input).Input("input", input);
  call.Input("mean", statistics).Input("rstd", statistics);
  call.Attribute("N", 2).Attribute("C", 4).Attribute("HxW", 64).Attribute("group", 2);
  call.Attribute("output_mask", std::vector<bool>{true, true, true});
  const Executor executor = context_->GetWorkspaceSize(call, ExecutorUse::kRepeatable);
  const absl::StatusOr<int64_t> bytes = executor.workspace_bytes();
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  ASSERT_GT(*bytes, 0);
  ReceiveOptions small;
  small.workspace = context_->Allocate(*bytes - 1);
  EXPECT_THAT(Message(stream_->ExecuteAndReceive(executor, std::move(small)).status()),
              HasSubstr("workspace"));
  ReceiveOptions enough;
  enough.workspace = context_->Allocate(*bytes);
  EXPECT_TRUE(stream_->ExecuteAndReceive(executor, std::move(enough)).ok());
}

TEST_F(SessionServerTest, BadCallsAreFoundInPhaseOne) {
  const Executor executor = context_->GetWorkspaceSize(DeviceCall("SmothL1LossBackward"));
  EXPECT_THAT(Message(executor.plan().status()), HasSubstr("did you mean"));
  stream_->Execute(executor);
  EXPECT_THAT(Message(stream_->Synchronize()), HasSubstr("command "));
  EXPECT_THAT(Message(session_->CreateContext("npu:7").Synchronize()), HasSubstr("npu:7"));
}

TEST_F(SessionServerTest, MemoryIsFreedWithTheSession) {
  const DeviceTensor x = context_->NewTensor(DType::kFloat32, {1 << 20});
  EXPECT_EQ(stream_->Fill(x, 1.0f), absl::OkStatus());
  EXPECT_EQ(stream_->Synchronize(), absl::OkStatus());
  EXPECT_GE(used_bytes(), 4 << 20);
  session_.reset();
  for (int i = 0; i < 5000 && used_bytes() > 0; ++i) absl::SleepFor(absl::Milliseconds(1));
  ExpectAliveAndEmpty();
}

}  // namespace
}  // namespace opserve::client
