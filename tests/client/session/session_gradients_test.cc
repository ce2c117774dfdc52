// Forward and backward with what lies between on the device, against the same by one message each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/client/session/session_server.h"
#include "tests/support/status_matchers.h"

namespace opserve::client {
namespace {

class GroupNormSessionTest : public SessionServerTest {
 protected:
  template <typename AnyCall>
  static void SetAttributes(AnyCall& call) {
    call.Attribute("N", 2).Attribute("C", 6).Attribute("HxW", 10).Attribute("group", 3);
  }

  absl::StatusOr<ExecuteResult> ByMessages() {
    Call forward("GroupNorm");
    SetAttributes(forward.Attribute("eps", 1e-5));
    forward.Input("self", TensorView::Of(x_, {2, 6, 10}));
    forward.Input("gamma", TensorView::Of(gamma_, {6}));
    absl::StatusOr<ExecuteResult> middle = client_->Execute(forward);
    if (!middle.ok()) return middle;
    Call backward("GroupNormBackward");
    SetAttributes(backward.Attribute("output_mask", mask_));
    backward.Input("grad_out", TensorView::Of(grad_, {2, 6, 10}))
        .Input("input", TensorView::Of(x_, {2, 6, 10}))
        .Input("mean", middle->Find("mean")->View())
        .Input("rstd", middle->Find("rstd")->View())
        .Input("gamma", TensorView::Of(gamma_, {6}));
    return client_->Execute(backward);
  }

  absl::StatusOr<ExecuteResult> OnTheDevice() {
    const DeviceTensor input = Put(TensorView::Of(x_, {2, 6, 10}));
    const DeviceTensor gamma = Put(TensorView::Of(gamma_, {6}));
    const DeviceTensor mean = context_->NewTensor(DType::kFloat32, {2, 3});
    const DeviceTensor rstd = context_->NewTensor(DType::kFloat32, {2, 3});
    DeviceCall forward("GroupNorm");
    SetAttributes(forward.Attribute("eps", 1e-5));
    forward.Input("self", input).Input("gamma", gamma);
    forward.Output("out", context_->NewTensor(DType::kFloat32, {2, 6, 10}));
    forward.Output("mean", mean).Output("rstd", rstd);
    DeviceCall backward("GroupNormBackward");
    SetAttributes(backward.Attribute("output_mask", mask_));
    backward.Input("grad_out", Put(TensorView::Of(grad_, {2, 6, 10})));
    backward.Input("input", input).Input("gamma", gamma);
    backward.Input("mean", mean).Input("rstd", rstd);
    stream_->Execute(context_->CreateExecutor(forward));
    return stream_->ExecuteAndReceive(context_->CreateExecutor(backward));
  }

  const std::vector<bool> mask_ = {true, false, true};
  const std::vector<float> x_ = Random(120, 1);
  const std::vector<float> grad_ = Random(120, 2);
  const std::vector<float> gamma_ = Random(6, 3);
};

TEST_F(GroupNormSessionTest, GradientsAreTheSameBits) {
  const absl::StatusOr<ExecuteResult> expected = ByMessages();
  ASSERT_THAT(expected, testing::IsOk());
  const absl::StatusOr<ExecuteResult> result = OnTheDevice();
  ASSERT_THAT(result, testing::IsOk());
  for (const NamedTensor& output : expected->outputs) {
    ASSERT_NE(result->Find(output.name), nullptr);
    ExpectSame(*result->Find(output.name), output.tensor);
  }
  EXPECT_EQ(result->Find("grad_gamma")->num_elements(), 0);
}

class CtcSessionTest : public SessionServerTest {
 protected:
  static constexpr int64_t kT = 12;
  static constexpr int64_t kN = 3;
  static constexpr int64_t kC = 5;
  static constexpr int64_t kAlphas = 7;  // 2 · the longest target + 1

  template <typename AnyCall>
  static void SetAttributes(AnyCall& call) {
    call.Attribute("input_lengths", std::vector<int64_t>{12, 11, 10})
        .Attribute("target_lengths", std::vector<int64_t>{3, 2, 3})
        .Attribute("blank", 0)
        .Attribute("zero_infinity", false);
  }

  absl::StatusOr<ExecuteResult> ByMessages() {
    Call forward("CtcLoss");
    SetAttributes(forward);
    forward.Input("log_probs", TensorView::Of(log_probs_, {kT, kN, kC}));
    forward.Input("targets", TensorView::Of(targets_, {kN, 3}));
    absl::StatusOr<ExecuteResult> middle = client_->Execute(forward);
    if (!middle.ok()) return middle;
    Call backward("CtcLossBackward");
    SetAttributes(backward);
    backward.Input("grad_out", TensorView::Of(grad_, {kN}))
        .Input("log_probs", TensorView::Of(log_probs_, {kT, kN, kC}))
        .Input("targets", TensorView::Of(targets_, {kN, 3}))
        .Input("neg_log_likelihood", middle->Find("neg_log_likelihood")->View())
        .Input("log_alpha", middle->Find("log_alpha")->View());
    return client_->Execute(backward);
  }

  absl::StatusOr<Tensor> OnTheDevice() {
    const DeviceTensor log_probs = Put(TensorView::Of(log_probs_, {kT, kN, kC}));
    const DeviceTensor targets = Put(TensorView::Of(targets_, {kN, 3}));
    const DeviceTensor loss = context_->NewTensor(DType::kFloat32, {kN});
    const DeviceTensor alpha = context_->NewTensor(DType::kFloat32, {kN, kT, kAlphas});
    const DeviceTensor gradient = context_->NewTensor(DType::kFloat32, {kT, kN, kC});
    DeviceCall forward("CtcLoss");
    SetAttributes(forward);
    forward.Input("log_probs", log_probs).Input("targets", targets);
    forward.Output("neg_log_likelihood", loss).Output("log_alpha", alpha);
    DeviceCall backward("CtcLossBackward");
    SetAttributes(backward);
    backward.Input("grad_out", Put(TensorView::Of(grad_, {kN})));
    backward.Input("log_probs", log_probs).Input("targets", targets);
    backward.Input("neg_log_likelihood", loss).Input("log_alpha", alpha);
    backward.Output("grad", gradient);
    stream_->Execute(context_->CreateExecutor(forward));
    stream_->Execute(context_->CreateExecutor(backward));
    return stream_->Download(gradient);
  }

  const std::vector<float> log_probs_ = Random(kT * kN * kC, 4);
  const std::vector<int64_t> targets_ = {1, 2, 3, 4, 1, 1, 2, 2, 3};
  const std::vector<float> grad_ = {1, 2, 3};
};

TEST_F(CtcSessionTest, GradientsAreTheSameBits) {
  const absl::StatusOr<ExecuteResult> expected = ByMessages();
  ASSERT_THAT(expected, testing::IsOk());
  const absl::StatusOr<Tensor> result = OnTheDevice();
  ASSERT_THAT(result, testing::IsOk());
  ExpectSame(*result, *expected->Find("grad"));
}

}  // namespace
}  // namespace opserve::client
