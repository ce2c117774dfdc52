// Sessions of the C++ client on the real server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "core/base/waiter.h"
#include "tests/client/session/session_server.h"
#include "tests/client/status_text.h"
#include "tests/support/status_matchers.h"

namespace opserve::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(SessionServerTest, TheSample) {
  const std::vector<float> ones(8, 1.0f);
  const std::vector<float> self = {0, 1, 2, 3, 4, 5, 6, 7};
  const DeviceTensor out = context_->NewTensor(DType::kFloat32, {4, 2});
  const Executor executor =
      context_->CreateExecutor(DeviceCall("SmoothL1LossBackward")
                                   .Input("grad_out", Put(TensorView::Of(ones, {4, 2})))
                                   .Input("self", Put(TensorView::Of(self, {4, 2})))
                                   .Input("target", Put(TensorView::Of(ones, {4, 2})))
                                   .Attribute("reduction", 0)
                                   .Attribute("beta", 1.0)
                                   .Output("grad_input", out));
  stream_->Execute(executor);
  EXPECT_EQ(stream_->Synchronize(), absl::OkStatus());
  const absl::StatusOr<Tensor> gradient = stream_->Download(out);
  ASSERT_THAT(gradient, testing::IsOk());
  EXPECT_THAT(gradient->As<float>(), ElementsAre(-1, 0, 1, 1, 1, 1, 1, 1));
  EXPECT_EQ(session_->Close(), absl::OkStatus());
  ExpectAliveAndEmpty();
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
  ASSERT_THAT(values, testing::IsOk());
  EXPECT_EQ(values->As<int32_t>().front(), 20);
  EXPECT_EQ(values->As<int32_t>().back(), 20);
  EXPECT_TRUE(*filled.Query());
  EXPECT_EQ(filled.Synchronize(), absl::OkStatus());
  const absl::StatusOr<absl::Duration> took = start.TimeUntil(filled);
  ASSERT_THAT(took, testing::IsOk());
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
  ASSERT_THAT(back, testing::IsOk());
  EXPECT_TRUE(std::ranges::equal(back->bytes(), std::as_bytes(std::span(values))));
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
  ASSERT_THAT(whole, testing::IsOk());
  const absl::StatusOr<ExecuteResult> chunked = session_->ExecuteChunked(call);
  ASSERT_THAT(chunked, testing::IsOk());
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
  ASSERT_THAT(whole, testing::IsOk());
  const absl::StatusOr<ExecuteResult> chunked = session_->ExecuteChunked(call);
  ASSERT_THAT(chunked, testing::IsOk());
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
  selves.reserve(kCalls);
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

TEST_F(SessionServerTest, LateAndCancelledCommands) {
  const DeviceTensor x = context_->NewTensor(DType::kFloat32, {4});
  EXPECT_EQ(stream_->WithTimeout(absl::Hours(1)).Fill(x, 1.0f), absl::OkStatus());
  EXPECT_EQ(stream_->Synchronize(), absl::OkStatus());
  EXPECT_EQ(stream_->WithTimeout(absl::Nanoseconds(1)).Fill(x, 2.0f), absl::OkStatus());
  const absl::Status late = stream_->Synchronize();
  EXPECT_EQ(late.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(Message(late), HasSubstr("(Fill, command "));
  const absl::StatusOr<Tensor> values = stream_->Download(x, {.timeout = absl::Hours(1)});
  ASSERT_THAT(values, testing::IsOk());
  EXPECT_THAT(values->As<float>(), ElementsAre(1, 1, 1, 1));
  // Whatever it ends with, it ends once, and the session goes on.
  const std::vector<float> large(1 << 20, 1.0f);
  Waiter<absl::Status> ended;
  const CommandHandle command = session_->ExecuteAsync(
      Call("Hardshrink").Input("self", TensorView::Of(large, {1 << 20})).Attribute("lambd", 0.5),
      [ended](const absl::StatusOr<ExecuteResult>& result) { ended.Set(result.status()); });
  command.Cancel();
  const absl::Status status = *ended.Wait(absl::InfiniteFuture());
  EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kCancelled) << status;
  command.Cancel();
  EXPECT_EQ(stream_->Synchronize(), absl::OkStatus());
  EXPECT_EQ(session_->Close(), absl::OkStatus());
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
