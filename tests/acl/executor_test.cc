// The two phases, executors that are consumed and repeatable ones.
#include <thread>

#include "aclnnop/aclnn_group_norm.h"
#include "aclnnop/aclnn_l1_loss_backward.h"
#include "aclnnop/aclnn_smooth_l1_loss_backward.h"
#include "gmock/gmock.h"
#include "tests/acl/acl_fixture.h"

namespace opserve::acl_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The tensors of a call of SmoothL1LossBackward with beta 1.
class AclExecutorTest : public AclTest {
 protected:
  void SetUp() override {
    AclTest::SetUp();
    grad_ = std::make_unique<FloatTensor>(std::vector<int64_t>{3}, std::vector<float>{1, 1, 1});
    self_ = std::make_unique<FloatTensor>(std::vector<int64_t>{3}, std::vector<float>{0, 1.5f, 9});
    target_ = std::make_unique<FloatTensor>(std::vector<int64_t>{3}, std::vector<float>{1, 1, 1});
    out_ = std::make_unique<FloatTensor>(std::vector<int64_t>{3}, std::vector<float>(3));
  }
  void TearDown() override {
    for (auto* tensor : {&grad_, &self_, &target_, &out_}) tensor->reset();
    AclTest::TearDown();
  }

  aclOpExecutor* Plan() {
    uint64_t size = 1;
    aclOpExecutor* executor = nullptr;
    EXPECT_EQ(aclnnSmoothL1LossBackwardGetWorkspaceSize(grad_->get(), self_->get(), target_->get(),
                                                        0, 1.0f, out_->get(), &size, &executor),
              ACLNN_SUCCESS)
        << aclGetRecentErrMsg();
    EXPECT_EQ(size, 0u);
    return executor;
  }

  static aclnnStatus Run(aclOpExecutor* executor, aclrtStream stream = nullptr) {
    return aclnnSmoothL1LossBackward(nullptr, 0, executor, stream);
  }

  std::unique_ptr<FloatTensor> grad_, self_, target_, out_;
};

TEST_F(AclExecutorTest, IsConsumedByItsExecution) {
  aclOpExecutor* executor = Plan();
  EXPECT_EQ(opserveAclCountLive(OPSERVE_ACL_EXECUTORS), 1);
  EXPECT_EQ(Run(executor), ACLNN_SUCCESS);
  EXPECT_EQ(opserveAclCountLive(OPSERVE_ACL_EXECUTORS), 0);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_THAT(out_->Read(), ElementsAre(-1, 0.5f, 1));
  EXPECT_EQ(Run(executor), ACLNN_ERR_PARAM_INVALID);
  EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("SmoothL1LossBackward: executor: want"));
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclSetAclOpExecutorRepeatable(executor), ACLNN_ERR_PARAM_INVALID);
}

TEST_F(AclExecutorTest, IsConsumedByAFailure) {
  aclOpExecutor* executor = Plan();
  EXPECT_EQ(Run(executor, Foreign<void>()), ACLNN_ERR_RUNTIME_ERROR);
  EXPECT_EQ(Run(executor), ACLNN_ERR_PARAM_INVALID);
  executor = Plan();
  EXPECT_EQ(aclnnL1LossBackward(nullptr, 0, executor, nullptr), ACLNN_ERR_PARAM_INVALID);
  EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("want one of L1LossBackward, got one of Smooth"));
  EXPECT_EQ(Run(executor), ACLNN_ERR_PARAM_INVALID);
}

TEST_F(AclExecutorTest, ThatIsNone) {
  EXPECT_EQ(Run(nullptr), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(Run(Foreign<aclOpExecutor>()), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclDestroyAclOpExecutor(nullptr), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclSetAclOpExecutorRepeatable(nullptr), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclSetTensorAddr(nullptr, 0, grad_->get(), grad_->data()), ACLNN_ERR_PARAM_NULLPTR);
}

TEST_F(AclExecutorTest, MayBeDestroyedUnused) {
  aclOpExecutor* executor = Plan();
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_SUCCESS);
  EXPECT_EQ(Run(executor), ACLNN_ERR_PARAM_INVALID);
}

TEST_F(AclExecutorTest, PhasesOnTwoThreads) {
  aclOpExecutor* executor = Plan();
  void* context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  std::thread([&] {
    EXPECT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
    EXPECT_EQ(Run(executor), ACLNN_SUCCESS);
  }).join();
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_THAT(out_->Read(), ElementsAre(-1, 0.5f, 1));
}

TEST_F(AclExecutorTest, AThreadWithoutAContextIsTold) {
  aclOpExecutor* executor = Plan();
  std::thread([&] {
    EXPECT_EQ(Run(executor), ACLNN_ERR_RUNTIME_ERROR);
    EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("no current context"));
    uint64_t size = 0;
    aclOpExecutor* made = nullptr;
    EXPECT_EQ(aclnnSmoothL1LossBackwardGetWorkspaceSize(grad_->get(), self_->get(), target_->get(),
                                                        0, 1.0f, out_->get(), &size, &made),
              ACLNN_ERR_RUNTIME_ERROR);
  }).join();
}

TEST_F(AclExecutorTest, OfAnotherContextIsRefused) {
  aclOpExecutor* executor = Plan();
  void* standard = nullptr;
  void* other = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&standard), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateContext(&other, 0), ACL_SUCCESS);
  EXPECT_EQ(Run(executor), ACLNN_ERR_PARAM_INVALID);
  EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("another context's"));
  void* stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetCurrentContext(standard), ACL_SUCCESS);
  EXPECT_EQ(Run(Plan(), stream), ACLNN_ERR_RUNTIME_ERROR) << "the stream is the other context's";
  EXPECT_EQ(aclrtDestroyContext(other), ACL_SUCCESS);
}

TEST_F(AclExecutorTest, RepeatableRunsUntilItIsDestroyed) {
  aclOpExecutor* executor = Plan();
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), ACLNN_SUCCESS);
  for (const float first : {0.0f, 1.25f, 5.0f}) {
    ASSERT_EQ(aclrtMemcpy(self_->data(), 4, &first, 4, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    EXPECT_EQ(Run(executor), ACLNN_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
    EXPECT_EQ(out_->Read()[0], first == 0 ? -1 : first == 5 ? 1 : 0.25f);
  }
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_SUCCESS);
  EXPECT_EQ(Run(executor), ACLNN_ERR_PARAM_INVALID);
}

TEST_F(AclExecutorTest, RepeatableIsBoundToOtherTensors) {
  const FloatTensor self({3}, {3, 0.5f, 1});
  const FloatTensor out({3}, {7, 7, 7});
  aclOpExecutor* executor = Plan();
  EXPECT_EQ(aclSetTensorAddr(executor, 1, self.get(), self.data()), ACLNN_ERR_PARAM_INVALID);
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), ACLNN_SUCCESS);
  // The self becomes what was the output, and the other way round: only both together make sense.
  EXPECT_EQ(aclSetTensorAddr(executor, 1, out_->get(), out_->data()), ACLNN_SUCCESS);
  EXPECT_EQ(aclSetTensorAddr(executor, 3, self_->get(), self_->data()), ACLNN_SUCCESS);
  EXPECT_EQ(Run(executor), ACLNN_SUCCESS) << aclGetRecentErrMsg();
  EXPECT_EQ(aclSetTensorAddr(executor, 1, self.get(), self.data()), ACLNN_SUCCESS);
  EXPECT_EQ(aclSetTensorAddr(executor, 3, out.get(), out.data()), ACLNN_SUCCESS);
  EXPECT_EQ(Run(executor), ACLNN_SUCCESS) << aclGetRecentErrMsg();
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_THAT(self_->Read(), ElementsAre(-1, -1, -1));
  EXPECT_THAT(out.Read(), ElementsAre(1, -0.5f, 0));
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_SUCCESS);
}

TEST_F(AclExecutorTest, BadBindingsAreRefused) {
  aclOpExecutor* executor = Plan();
  int host = 0;
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), ACLNN_SUCCESS);
  EXPECT_EQ(aclSetTensorAddr(executor, 4, out_->get(), out_->data()), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclSetTensorAddr(executor, 0, nullptr, out_->data()), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclSetTensorAddr(executor, 0, out_->get(), nullptr), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclSetTensorAddr(executor, 0, out_->get(), &host), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclSetTensorAddr(executor, 0, Foreign<aclTensor>(), out_->data()),
            ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclSetTensorAddr(executor, 1, out_->get(), out_->data()), ACLNN_SUCCESS);
  EXPECT_EQ(Run(executor), ACLNN_ERR_PARAM_INVALID) << "input and output are the same";
  EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("memory apart from that of self"));
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_SUCCESS);
}

TEST_F(AclExecutorTest, MemoryFreedAfterPhaseOneStays) {
  auto self = std::make_unique<FloatTensor>(std::vector<int64_t>{3}, std::vector<float>{5, 5, 5});
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnSmoothL1LossBackwardGetWorkspaceSize(grad_->get(), self->get(), target_->get(), 0,
                                                      1.0f, out_->get(), &size, &executor),
            ACLNN_SUCCESS);
  self.reset();
  EXPECT_EQ(Run(executor), ACLNN_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_THAT(out_->Read(), ElementsAre(1, 1, 1));
}

// An operator that wants a workspace.
class AclWorkspaceTest : public AclTest {
 protected:
  static constexpr int64_t kC = 64;

  Planned Plan(const FloatTensor& self, const FloatTensor& out, const FloatTensor& mean,
               const FloatTensor& rstd) {
    Planned planned;
    EXPECT_EQ(aclnnGroupNormGetWorkspaceSize(self.get(), nullptr, nullptr, 1, kC, 4, 2, 1e-5,
                                             out.get(), mean.get(), rstd.get(),
                                             &planned.workspace_size, &planned.executor),
              ACLNN_SUCCESS)
        << aclGetRecentErrMsg();
    return planned;
  }
};

TEST_F(AclWorkspaceTest, IsChecked) {
  const FloatTensor self({1, kC, 4}, std::vector<float>(kC * 4, 2));
  const FloatTensor out({1, kC, 4}, std::vector<float>(kC * 4));
  const FloatTensor mean({1, 2}, {0, 0});
  const FloatTensor rstd({1, 2}, {0, 0});
  const Planned unused = Plan(self, out, mean, rstd);
  const uint64_t size = unused.workspace_size;
  EXPECT_EQ(aclDestroyAclOpExecutor(unused.executor), ACLNN_SUCCESS);
  ASSERT_GT(size, 64u) << "this test needs an operator with a workspace";
  const Workspace workspace(size);
  const Workspace small(size - 1);
  struct Case {
    const char* what;
    void* workspace;
    uint64_t size;
    aclnnStatus code;
  };
  std::vector<char> host(size);
  const Case cases[] = {
      {"null", nullptr, size, ACLNN_ERR_PARAM_NULLPTR},
      {"said to be too small", workspace.data(), size - 1, ACLNN_ERR_PARAM_INVALID},
      {"too small", small.data(), size, ACLNN_ERR_PARAM_INVALID},
      {"not aligned", static_cast<char*>(workspace.data()) + 4, size, ACLNN_ERR_PARAM_INVALID},
      {"the host's", host.data(), size, ACLNN_ERR_PARAM_INVALID},
      {"an input's", self.data(), size, ACLNN_ERR_PARAM_INVALID},
      {"fine", workspace.data(), size, ACLNN_SUCCESS},
  };
  for (const Case& made : cases) {
    aclOpExecutor* executor = Plan(self, out, mean, rstd).executor;
    EXPECT_EQ(aclnnGroupNorm(made.workspace, made.size, executor, nullptr), made.code) << made.what;
  }
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_THAT(mean.Read(), ElementsAre(2, 2));
}

TEST_F(AclWorkspaceTest, IsApartFromTensorsThatWereMoved) {
  const FloatTensor self({1, kC, 4}, std::vector<float>(kC * 4, 2));
  const FloatTensor out({1, kC, 4}, std::vector<float>(kC * 4));
  const FloatTensor mean({1, 2}, {0, 0});
  const FloatTensor rstd({1, 2}, {0, 0});
  const Planned planned = Plan(self, out, mean, rstd);
  const size_t self_bytes = kC * 4 * sizeof(float);
  const Workspace memory(self_bytes + planned.workspace_size);
  auto* const start = static_cast<char*>(memory.data());
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(planned.executor), ACLNN_SUCCESS);
  ASSERT_EQ(aclSetTensorAddr(planned.executor, 0, self.get(), start), ACLNN_SUCCESS);
  EXPECT_EQ(
      aclnnGroupNorm(start + self_bytes - 64, planned.workspace_size, planned.executor, nullptr),
      ACLNN_ERR_PARAM_INVALID);
  EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("workspace: want memory apart from that of self"));
  EXPECT_EQ(aclnnGroupNorm(start + self_bytes, planned.workspace_size, planned.executor, nullptr),
            ACLNN_SUCCESS)
      << aclGetRecentErrMsg();
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclDestroyAclOpExecutor(planned.executor), ACLNN_SUCCESS);
}

}  // namespace
}  // namespace opserve::acl_test
