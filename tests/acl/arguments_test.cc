// What phase one refuses, and the layouts that it takes.
#include <limits>

#include "aclnnop/aclnn_ctc_loss_backward.h"
#include "aclnnop/aclnn_hardshrink_backward.h"
#include "aclnnop/aclnn_l1_loss_backward.h"
#include "gmock/gmock.h"
#include "tests/acl/acl_fixture.h"

namespace opserve::acl_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kMany = int64_t{1} << 40;

// A tensor as a program describes it, on somebody's memory.
struct Description {
  std::vector<int64_t> view = {2, 3};
  aclDataType data_type = ACL_FLOAT;
  std::vector<int64_t> strides = {3, 1};
  int64_t offset = 0;
  aclFormat format = ACL_FORMAT_ND;
  std::vector<int64_t> storage = {6};
  void* data = nullptr;

  aclTensor* Make() const {
    return aclCreateTensor(view.data(), view.size(), data_type, strides.data(), offset, format,
                           storage.data(), storage.size(), data);
  }
};

// A call of L1LossBackward on [2, 3] tensors.
class AclArgumentsTest : public AclTest {
 protected:
  void SetUp() override {
    AclTest::SetUp();
    grad_ = std::make_unique<FloatTensor>(std::vector<int64_t>{2, 3}, std::vector<float>(6, 1));
    self_ = std::make_unique<FloatTensor>(std::vector<int64_t>{2, 3}, std::vector<float>(6, 5));
    out_ = std::make_unique<FloatTensor>(std::vector<int64_t>{2, 3}, std::vector<float>(6, 9));
  }
  void TearDown() override {
    for (auto* tensor : {&grad_, &self_, &out_}) tensor->reset();
    AclTest::TearDown();
  }

  aclnnStatus Plan(const aclTensor* grad, const aclTensor* self, const aclTensor* target,
                   aclTensor* out, int64_t reduction = 0) {
    aclGetRecentErrMsg();
    return aclnnL1LossBackwardGetWorkspaceSize(grad, self, target, reduction, out,
                                               &planned_.workspace_size, &planned_.executor);
  }

  // Phase one with `bad` as the target, and as the output.
  void ExpectRefused(const Description& bad, const std::string& message) {
    aclTensor* tensor = bad.Make();
    EXPECT_EQ(Plan(grad_->get(), self_->get(), tensor, out_->get()), ACLNN_ERR_PARAM_INVALID);
    EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("L1LossBackward: target: want " + message));
    EXPECT_EQ(Plan(grad_->get(), self_->get(), self_->get(), tensor), ACLNN_ERR_PARAM_INVALID);
    EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("L1LossBackward: grad_input: want " + message));
    EXPECT_EQ(aclDestroyTensor(tensor), ACLNN_SUCCESS);
  }

  Planned planned_;
  std::unique_ptr<FloatTensor> grad_, self_, out_;
};

TEST_F(AclArgumentsTest, NullsComeFirst) {
  aclTensor* gone = Description().Make();
  ASSERT_EQ(aclDestroyTensor(gone), ACLNN_SUCCESS);
  EXPECT_EQ(Plan(nullptr, self_->get(), self_->get(), out_->get()), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("L1LossBackward: grad_output: want a tensor"));
  EXPECT_EQ(Plan(gone, nullptr, self_->get(), out_->get()), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(Plan(grad_->get(), gone, nullptr, out_->get()), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(Plan(gone, gone, self_->get(), nullptr, 7), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclnnL1LossBackwardGetWorkspaceSize(nullptr, nullptr, nullptr, 7, nullptr, nullptr,
                                                &planned_.executor),
            ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("L1LossBackward: workspace_size: want"));
  EXPECT_EQ(aclnnL1LossBackwardGetWorkspaceSize(grad_->get(), self_->get(), self_->get(), 0,
                                                out_->get(), &planned_.workspace_size, nullptr),
            ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("L1LossBackward: executor: want"));
}

TEST_F(AclArgumentsTest, WhatIsNoTensorIsInvalid) {
  aclTensor* gone = Description().Make();
  ASSERT_EQ(aclDestroyTensor(gone), ACLNN_SUCCESS);
  for (aclTensor* bad : {gone, Foreign<aclTensor>()}) {
    EXPECT_EQ(Plan(bad, self_->get(), self_->get(), out_->get()), ACLNN_ERR_PARAM_INVALID);
    EXPECT_THAT(aclGetRecentErrMsg(),
                HasSubstr("grad_output: want a handle that was not destroyed"));
    EXPECT_EQ(Plan(grad_->get(), self_->get(), self_->get(), bad), ACLNN_ERR_PARAM_INVALID);
  }
}

TEST_F(AclArgumentsTest, AttributesAreChecked) {
  EXPECT_EQ(Plan(grad_->get(), self_->get(), self_->get(), out_->get(), 3),
            ACLNN_ERR_PARAM_INVALID);
  EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("L1LossBackward: reduction: want"));
}

TEST_F(AclArgumentsTest, DescriptionsThatMakeNoSense) {
  void* data = self_->data();
  ExpectRefused({.view = {2, -3}, .data = data}, "extents >= 0");
  ExpectRefused({.data_type = static_cast<aclDataType>(5), .data = data}, "an aclDataType, got 5");
  ExpectRefused({.data_type = ACL_DT_UNDEFINED, .data = data}, "an aclDataType, got -1");
  ExpectRefused({.strides = {3, -1}, .data = data}, "strides >= 0");
  ExpectRefused({.offset = -1, .data = data}, "storage_offset >= 0");
  ExpectRefused({.format = static_cast<aclFormat>(29), .data = data}, "ND or another plain");
  ExpectRefused({.storage = {-6}, .data = data}, "storage_dims >= 0");
  ExpectRefused({.storage = {5}, .data = data}, "a storage of at least 6 elements");
  ExpectRefused({.offset = 1, .data = data}, "a storage of at least 7 elements");
  ExpectRefused({.view = {kMany, kMany}, .strides = {1, 1}, .data = data}, "a size in bytes");
  ExpectRefused({.strides = {std::numeric_limits<int64_t>::max(), 1}, .data = data},
                "a last element below 2^63 bytes");
}

TEST_F(AclArgumentsTest, DimensionsThatCannotBeRead) {
  const int64_t dims[] = {2, 3};
  aclTensor* null_view =
      aclCreateTensor(nullptr, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 2, self_->data());
  aclTensor* endless = aclCreateTensor(dims, uint64_t{1} << 60, ACL_FLOAT, dims, 0, ACL_FORMAT_ND,
                                       dims, 2, self_->data());
  aclTensor* null_storage =
      aclCreateTensor(dims, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 2, self_->data());
  for (aclTensor* bad : {null_view, endless, null_storage}) {
    EXPECT_EQ(Plan(grad_->get(), bad, self_->get(), out_->get()), ACLNN_ERR_PARAM_INVALID);
    EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("self: want readable"));
    EXPECT_EQ(aclDestroyTensor(bad), ACLNN_SUCCESS);
  }
}

TEST_F(AclArgumentsTest, AddressesAreTheDevices) {
  std::vector<float> host(6);
  ExpectRefused({.data = host.data()}, "an address of device memory");
  ExpectRefused({.data = static_cast<char*>(self_->data()) + 2}, "an offset_bytes that is a mul");
  ExpectRefused({.storage = {100}, .data = static_cast<char*>(self_->data()) + 4},
                "at least 24 bytes from offset_bytes 4 on");
  aclTensor* null_data = Description().Make();
  EXPECT_EQ(Plan(grad_->get(), null_data, self_->get(), out_->get()), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclDestroyTensor(null_data), ACLNN_SUCCESS);
}

TEST_F(AclArgumentsTest, OutputsLieApart) {
  EXPECT_EQ(Plan(grad_->get(), self_->get(), self_->get(), self_->get()), ACLNN_ERR_PARAM_INVALID);
  EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("grad_input: want memory apart from that of self"));
  aclTensor* folded = Description{.strides = {0, 1}, .data = out_->data()}.Make();
  EXPECT_EQ(Plan(grad_->get(), self_->get(), self_->get(), folded), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclDestroyTensor(folded), ACLNN_SUCCESS);
}

TEST_F(AclArgumentsTest, ViewsOfAnyLayoutAreTaken) {
  // Columns 1 and 3 of a 3 x 4 matrix, transposed; written to every second element.
  const FloatTensor matrix({3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  const FloatTensor five({}, {5});
  const FloatTensor spaced({12}, std::vector<float>(12, -9));
  aclTensor* view =
      Description{
          .view = {2, 3}, .strides = {2, 4}, .offset = 1, .storage = {12}, .data = matrix.data()}
          .Make();
  aclTensor* out =
      Description{
          .view = {2, 3}, .strides = {6, 2}, .offset = 1, .storage = {12}, .data = spaced.data()}
          .Make();
  ASSERT_EQ(Plan(grad_->get(), view, five.get(), out), ACLNN_SUCCESS) << aclGetRecentErrMsg();
  EXPECT_EQ(RunToEnd(aclnnL1LossBackward, planned_), ACL_SUCCESS);
  EXPECT_THAT(spaced.Read(), ElementsAre(-9, -1, -9, 0, -9, 1, -9, -1, -9, 1, -9, 1));
  EXPECT_EQ(aclDestroyTensor(view), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyTensor(out), ACLNN_SUCCESS);
}

TEST_F(AclArgumentsTest, AStorageWithoutDimsIsAllOfTheAllocation) {
  const int64_t dims[] = {2, 3};
  aclTensor* self =
      aclCreateTensor(dims, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_NCHW, nullptr, 0, self_->data());
  ASSERT_EQ(Plan(grad_->get(), self, self_->get(), out_->get()), ACLNN_SUCCESS)
      << aclGetRecentErrMsg();
  EXPECT_EQ(RunToEnd(aclnnL1LossBackward, planned_), ACL_SUCCESS);
  EXPECT_THAT(out_->Read(), ElementsAre(0, 0, 0, 0, 0, 0));
  EXPECT_EQ(aclDestroyTensor(self), ACLNN_SUCCESS);
}

TEST_F(AclArgumentsTest, EmptyTensorsNeedNoMemory) {
  const FloatTensor empty({0, 3}, {});
  const FloatTensor out({0, 3}, {});
  ASSERT_EQ(Plan(empty.get(), empty.get(), empty.get(), out.get()), ACLNN_SUCCESS)
      << aclGetRecentErrMsg();
  EXPECT_EQ(RunToEnd(aclnnL1LossBackward, planned_), ACL_SUCCESS);
}

TEST_F(AclArgumentsTest, ScalarsAreChecked) {
  float value = 0.5f;
  const aclScalar* gone = aclCreateScalar(&value, ACL_FLOAT);
  ASSERT_EQ(aclDestroyScalar(gone), ACLNN_SUCCESS);
  const aclScalar* null_value = aclCreateScalar(nullptr, ACL_FLOAT);
  const aclScalar* no_type = aclCreateScalar(&value, static_cast<aclDataType>(5));
  struct Case {
    const aclScalar* lambd;
    aclnnStatus code;
  };
  for (const auto& [lambd, code] :
       {Case{nullptr, ACLNN_ERR_PARAM_NULLPTR}, Case{gone, ACLNN_ERR_PARAM_INVALID},
        Case{null_value, ACLNN_ERR_PARAM_INVALID}, Case{no_type, ACLNN_ERR_PARAM_INVALID}}) {
    EXPECT_EQ(
        aclnnHardshrinkBackwardGetWorkspaceSize(grad_->get(), self_->get(), lambd, out_->get(),
                                                &planned_.workspace_size, &planned_.executor),
        code);
    EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("HardshrinkBackward: lambd: want"));
  }
  EXPECT_EQ(aclDestroyScalar(null_value), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyScalar(no_type), ACLNN_SUCCESS);
}

TEST_F(AclArgumentsTest, ArraysAreChecked) {
  const int64_t one = 1;
  const aclIntArray* good = aclCreateIntArray(&one, 1);
  const aclIntArray* null_values = aclCreateIntArray(nullptr, 1);
  const FloatTensor log_probs({2, 1, 3}, std::vector<float>(6, -1));
  const FloatTensor alpha({1, 2, 3}, std::vector<float>(6, -1));
  const FloatTensor sample({1}, {1});
  struct Case {
    const aclIntArray* lengths;
    aclnnStatus code;
  };
  for (const auto& [lengths, code] : {Case{nullptr, ACLNN_ERR_PARAM_NULLPTR},
                                      Case{Foreign<aclIntArray>(), ACLNN_ERR_PARAM_INVALID},
                                      Case{null_values, ACLNN_ERR_PARAM_INVALID}}) {
    EXPECT_EQ(aclnnCtcLossBackwardGetWorkspaceSize(
                  sample.get(), log_probs.get(), sample.get(), good, lengths, sample.get(),
                  alpha.get(), 0, false, out_->get(), &planned_.workspace_size, &planned_.executor),
              code);
    EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("CtcLossBackward: target_lengths: want"));
  }
  EXPECT_EQ(aclDestroyIntArray(good), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyIntArray(null_values), ACLNN_SUCCESS);
}

TEST(AclProfileTest, AnOperatorThatTheProductLacksIsARuntimeError) {
  const Environment devices("OPSERVE_ACL_DEVICES", "cpu,threads=1,profile=atlas-inference");
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  {
    float value = 0.5f;
    const aclScalar* lambd = aclCreateScalar(&value, ACL_FLOAT);
    const FloatTensor data({1}, {1});
    const FloatTensor out({1}, {1});
    Planned planned;
    EXPECT_EQ(aclnnHardshrinkBackwardGetWorkspaceSize(data.get(), data.get(), lambd, out.get(),
                                                      &planned.workspace_size, &planned.executor),
              ACLNN_ERR_RUNTIME_ERROR);
    EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("profile atlas-inference"));
    EXPECT_EQ(aclDestroyScalar(lambd), ACLNN_SUCCESS);
  }
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
}

}  // namespace
}  // namespace opserve::acl_test
