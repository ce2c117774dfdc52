// The C++ client's shared memory, against a real server.
#include <opserve/shared_memory.h>

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

#include <opserve/client.h>
#include <opserve/session.h>

#include "absl/time/clock.h"
#include "core/base/op_error.h"
#include "tests/server/test_server.h"
#include "tests/support/status_matchers.h"

namespace opserve::client {
namespace {

constexpr int64_t kPart = 1 << 20;  // bytes between tensors

class SharedMemoryTest : public opserve::testing::ServerTest {
 protected:
  SharedMemoryTest() {
    config_.shared_memory = {.socket = (folder_ / "memory").string(), .limit_bytes = 64 << 20};
  }

  void SetUp() override {
    ServerTest::SetUp();
    client_.emplace(*Client::Connect(server().addresses()[0]));
  }

  // self = 0, 1, …; target and grad_out are 1.
  static SharedMemory Fill(SharedMemory memory, size_t count) {
    std::ranges::fill(memory.As<float>(0, count), 1.0f);
    const std::span<float> self = memory.As<float>(kPart, count);
    std::iota(self.begin(), self.end(), 0.0f);
    return memory;
  }

  static Call MakeCall(const SharedMemory& memory, int64_t count) {
    Call call("SmoothL1LossBackward");
    call.Input("grad_out", memory.View(DType::kFloat32, {count}, 0))
        .Input("self", memory.View(DType::kFloat32, {count}, kPart))
        .Input("target", memory.View(DType::kFloat32, {count}, 0))
        .Output("grad_input", memory.View(DType::kFloat32, {count}, 2 * kPart))
        .Attribute("reduction", 0)
        .Attribute("beta", 1.0);
    return call;
  }

  static void ExpectRight(const ExecuteResult& result, const SharedMemory& memory) {
    const std::span<const float> gradient = result.Find("grad_input")->As<float>();
    EXPECT_EQ(reinterpret_cast<const std::byte*>(gradient.data()),
              memory.bytes().data() + 2 * kPart);
    EXPECT_EQ(gradient[0], -1);
    EXPECT_EQ(gradient[1], 0);
    EXPECT_EQ(gradient.back(), 1);
  }

  std::optional<Client> client_;
};

TEST_F(SharedMemoryTest, ExecutesInPlace) {
  const SharedMemory memory = Fill(*client_->CreateSharedMemory(3 * kPart), kPart / 4);
  for (const int64_t count : {int64_t{8}, kPart / 4}) {
    const absl::StatusOr<ExecuteResult> result = client_->Execute(MakeCall(memory, count));
    ASSERT_THAT(result, testing::IsOk());
    ExpectRight(*result, memory);
  }
  EXPECT_EQ(used_bytes(), 0);
}

TEST_F(SharedMemoryTest, BatchesAndPlansToo) {
  const SharedMemory memory = Fill(*client_->CreateSharedMemory(3 * kPart), 64);
  Call plain("L1Loss");
  const std::vector<float> two(4, 2.0f);
  plain.Input("self", TensorView::Of(two, {4}))
      .Input("target", memory.View(DType::kFloat32, {4}, 0));
  plain.Attribute("reduction", 2);
  const std::vector<Call> calls = {MakeCall(memory, 64), plain};
  const absl::StatusOr<BatchResults> results = client_->ExecuteBatch(calls);
  ASSERT_THAT(results, testing::IsOk());
  ASSERT_THAT((*results)[0], testing::IsOk());
  ExpectRight(*(*results)[0], memory);
  ASSERT_THAT((*results)[1], testing::IsOk());
  EXPECT_EQ((*results)[1]->outputs[0].tensor.As<float>()[0], 4);
  const absl::StatusOr<Plan> plan = client_->GetWorkspaceSize(MakeCall(memory, 64));
  ASSERT_THAT(plan, testing::IsOk());
  EXPECT_EQ(plan->output_bytes, 256);
}

// Everything of the caller's goes while the call runs.
TEST_F(SharedMemoryTest, RunningCallsAndResultsKeepTheMemory) {
  std::promise<absl::StatusOr<ExecuteResult>> ended;
  {
    const SharedMemory memory = Fill(*client_->CreateSharedMemory(3 * kPart), kPart / 4);
    client_->ExecuteAsync(
        MakeCall(memory, kPart / 4), {},
        [&](absl::StatusOr<ExecuteResult> result) { ended.set_value(std::move(result)); });
  }
  {
    const absl::StatusOr<ExecuteResult> result = ended.get_future().get();
    ASSERT_THAT(result, testing::IsOk());
    EXPECT_EQ(result->Find("grad_input")->As<float>().back(), 1);
  }
  const auto regions = [&] { return tcp().GetStatistics().response.shared_memory().regions(); };
  for (int i = 0; i < 20'000 && regions() != 0; ++i) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_EQ(regions(), 0);
}

TEST_F(SharedMemoryTest, MistakesAreNamed) {
  const SharedMemory memory = Fill(*client_->CreateSharedMemory(3 * kPart), 8);
  Call call = MakeCall(memory, 8);
  call.Output("grad_input", memory.View(DType::kFloat32, {8}, 0));
  EXPECT_EQ(GetErrorDetail(client_->Execute(call).status())->got, "it twice");
  for (const int64_t offset : {int64_t{-4}, 3 * kPart - 16, int64_t{0}, int64_t{2 * kPart + 2}}) {
    Call bad("HardshrinkBackward");
    bad.Input("grad_output", memory.View(DType::kFloat32, {8}, 0))
        .Input("self", memory.View(DType::kFloat32, {8}, kPart))
        .Attribute("lambd", 0.5)
        .Output("grad_input", memory.View(DType::kFloat32, {8}, offset));
    const absl::Status status = client_->Execute(bad).status();
    ASSERT_TRUE(GetErrorDetail(status).has_value()) << status;
    EXPECT_EQ(GetErrorDetail(status)->parameter, "grad_input") << status;
  }
  EXPECT_EQ(GetErrorDetail(client_->CreateSharedMemory(1 << 30).status())->parameter, "size_bytes");
}

TEST_F(SharedMemoryTest, EmptyOutputsAreRefusedByName) {
  const SharedMemory memory = Fill(*client_->CreateSharedMemory(3 * kPart), 8);
  absl::StatusOr<Session> session = client_->OpenSession();
  ASSERT_THAT(session, testing::IsOk());
  SharedTensorView moved = memory.View(DType::kFloat32, {8}, 2 * kPart);
  const SharedTensorView taken = std::move(moved);
  SharedTensorView shaped;
  shaped.dtype = DType::kFloat32;
  shaped.shape = {8};
  // NOLINTNEXTLINE(bugprone-use-after-move): what a program may do by mistake
  for (const SharedTensorView& empty : {SharedTensorView(), moved, shaped}) {
    Call call("SmoothL1LossBackward");
    const std::vector<float> ones(8, 1);
    for (const char* name : {"grad_out", "self", "target"})
      call.Input(name, TensorView::Of(ones, {8}));
    call.Output("grad_input", empty);
    for (const absl::Status& status :
         {client_->Execute(call).status(), (*client_->ExecuteBatch({{call}}))[0].status(),
          session->Execute(call).status()}) {
      ASSERT_TRUE(GetErrorDetail(status).has_value()) << status;
      EXPECT_EQ(GetErrorDetail(status)->parameter, "grad_input") << status;
    }
  }
}

TEST_F(SharedMemoryTest, SessionsRefuseItByName) {
  const SharedMemory memory = Fill(*client_->CreateSharedMemory(3 * kPart), 8);
  absl::StatusOr<Session> session = client_->OpenSession();
  ASSERT_THAT(session, testing::IsOk());
  const absl::Status status = session->Execute(MakeCall(memory, 8)).status();
  ASSERT_TRUE(GetErrorDetail(status).has_value()) << status;
  EXPECT_EQ(GetErrorDetail(status)->parameter, "grad_out") << status;
}

// Labels that change under a call that checks them: an answer or an error, never more.
TEST_F(SharedMemoryTest, LabelsThatChangeMeanwhileDoNoHarm) {
  constexpr int64_t kSteps = 30, kSamples = 4, kClasses = 40, kLabels = 10;
  const SharedMemory memory = *client_->CreateSharedMemory(2 * kPart);
  std::ranges::fill(memory.As<float>(0, kSteps * kSamples * kClasses), -3.0f);
  const std::span<int64_t> labels = memory.As<int64_t>(kPart, kSamples * kLabels);
  std::ranges::fill(labels, 5);
  Call call("CtcLoss");
  call.Input("log_probs", memory.View(DType::kFloat32, {kSteps, kSamples, kClasses}, 0))
      .Input("targets", memory.View(DType::kInt64, {kSamples, kLabels}, kPart))
      .Attribute("input_lengths", std::vector<int64_t>(kSamples, kSteps))
      .Attribute("target_lengths", std::vector<int64_t>(kSamples, kLabels));
  std::atomic<bool> over = false;
  std::thread other([&] {
    auto* label = reinterpret_cast<volatile int64_t*>(labels.data());
    for (size_t i = 0; !over; ++i) label[i % labels.size()] = i % 7 == 0 ? int64_t{1} << 50 : 5;
  });
  for (int i = 0; i < 200; ++i) {
    const absl::Status status = client_->Execute(call).status();
    if (status.ok()) continue;
    EXPECT_EQ(GetErrorDetail(status)->parameter, "targets") << status;
  }
  over = true;
  other.join();
  std::ranges::fill(labels, 5);
  EXPECT_THAT(client_->Execute(call), testing::IsOk());
}

class WithoutSharedMemoryTest : public opserve::testing::ServerTest {};

TEST_F(WithoutSharedMemoryTest, SaysSo) {
  const absl::Status status =
      Client::Connect(server().addresses()[0])->CreateSharedMemory(100).status();
  ASSERT_TRUE(GetErrorDetail(status).has_value()) << status;
  EXPECT_EQ(GetErrorDetail(status)->reason, ErrorReason::kNoSharedMemory);
}

}  // namespace
}  // namespace opserve::client
