// Injected faults, memory that the host cannot follow, and many threads at once.
#include <thread>

#include "aclnnop/aclnn_l1_loss_backward.h"
#include "gmock/gmock.h"
#include "tests/acl/acl_fixture.h"

namespace opserve::acl_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// One value of L1LossBackward on the thread's default stream.
class Gradient {
 public:
  aclnnStatus Plan() {
    return aclnnL1LossBackwardGetWorkspaceSize(grad_.get(), self_.get(), target_.get(), 0,
                                               out_.get(), &planned_.workspace_size,
                                               &planned_.executor);
  }
  aclnnStatus Execute() { return aclnnL1LossBackward(nullptr, 0, planned_.executor, nullptr); }
  aclError Run() {
    EXPECT_EQ(Plan(), ACLNN_SUCCESS) << aclGetRecentErrMsg();
    EXPECT_EQ(Execute(), ACLNN_SUCCESS) << aclGetRecentErrMsg();
    return aclrtSynchronizeStream(nullptr);
  }
  const FloatTensor& out() const { return out_; }

 private:
  const FloatTensor grad_{{2}, {1, 2}};
  const FloatTensor self_{{2}, {0, 9}};
  const FloatTensor target_{{2}, {1, 1}};
  const FloatTensor out_{{2}, {9, 9}};
  Planned planned_;
};

using AclFaultsTest = AclTest;

TEST_F(AclFaultsTest, TextsThatMakeNoSenseChangeNothing) {
  ASSERT_EQ(opserveAclSetFaults("malloc:1"), ACL_SUCCESS);
  for (const char* bad : {"malloc", "malloc:", "malloc:0", "malloc:-1", "malloc:x", "other:1",
                          "malloc:1=", "malloc:1=0", "memcpy:1,other:1"}) {
    EXPECT_EQ(opserveAclSetFaults(bad), ACL_ERROR_INVALID_PARAM) << bad;
    EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("faults: want NAME:NTH[=CODE]"));
  }
  void* memory = nullptr;
  EXPECT_EQ(aclrtMalloc(&memory, 8, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("injected fault: malloc"));
}

TEST_F(AclFaultsTest, TheNthCallFailsOnce) {
  void* memory = nullptr;
  ASSERT_EQ(opserveAclSetFaults("malloc:2,memcpy:1"), ACL_SUCCESS);
  for (const aclError want : {ACL_SUCCESS, ACL_ERROR_RT_MEMORY_ALLOCATION, ACL_SUCCESS}) {
    ASSERT_EQ(aclrtMalloc(&memory, 8, ACL_MEM_MALLOC_HUGE_FIRST), want);
    if (want == ACL_SUCCESS) {
      EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
    }
  }
  int from = 1;
  int to = 2;
  EXPECT_EQ(aclrtMemcpy(&to, 4, &from, 4, ACL_MEMCPY_HOST_TO_HOST), ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_EQ(to, 2);
  EXPECT_EQ(aclrtMemcpy(&to, 4, &from, 4, ACL_MEMCPY_HOST_TO_HOST), ACL_SUCCESS);
}

TEST_F(AclFaultsTest, PhasesFail) {
  Gradient gradient;
  ASSERT_EQ(opserveAclSetFaults("phase1:1"), ACL_SUCCESS);
  EXPECT_EQ(gradient.Plan(), ACLNN_ERR_INNER);
  EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("L1LossBackward: injected fault: phase1"));
  ASSERT_EQ(opserveAclSetFaults("phase1:1=361001,phase2:1"), ACL_SUCCESS);
  EXPECT_EQ(gradient.Plan(), ACLNN_ERR_RUNTIME_ERROR);
  EXPECT_EQ(gradient.Plan(), ACLNN_SUCCESS);
  EXPECT_EQ(gradient.Execute(), ACLNN_ERR_RUNTIME_ERROR);
  EXPECT_EQ(gradient.Execute(), ACLNN_ERR_PARAM_INVALID) << "it was consumed";
  EXPECT_EQ(gradient.Run(), ACL_SUCCESS);
}

TEST_F(AclFaultsTest, AKernelFailsInItsTurn) {
  Gradient gradient;
  ASSERT_EQ(opserveAclSetFaults("kernel:1"), ACL_SUCCESS);
  EXPECT_EQ(gradient.Run(), ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("injected fault: kernel"));
  EXPECT_THAT(gradient.out().Read(), ElementsAre(9, 9));
  EXPECT_EQ(gradient.Run(), ACL_SUCCESS);
  EXPECT_THAT(gradient.out().Read(), ElementsAre(-1, 2));
}

TEST_F(AclFaultsTest, WaitsTimeOut) {
  void* event = nullptr;
  ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, nullptr), ACL_SUCCESS);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(opserveAclSetFaults("sync_timeout:1"), ACL_SUCCESS);
    EXPECT_EQ(i == 0 ? aclrtSynchronizeStream(nullptr) : aclrtSynchronizeDevice(),
              ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    ASSERT_EQ(opserveAclSetFaults("sync_timeout:1"), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeEvent(event), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
    ASSERT_EQ(opserveAclSetFaults("sync_timeout:1=207018"), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeEvent(event), ACL_ERROR_RT_DEVICE_OOM);
  }
  EXPECT_EQ(aclrtSynchronizeEvent(event), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
}

TEST_F(AclFaultsTest, ALostDeviceStaysLost) {
  {
    Gradient gradient;
    void* memory = nullptr;
    size_t bytes = 0;
    ASSERT_EQ(opserveAclSetFaults("device_lost:2"), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_AICORE_EXCEPTION);
      EXPECT_EQ(aclrtMalloc(&memory, 8, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_AICORE_EXCEPTION);
      EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &bytes, &bytes), ACL_ERROR_RT_AICORE_EXCEPTION);
      EXPECT_EQ(gradient.Plan(), ACLNN_ERR_RUNTIME_ERROR);
    }
    EXPECT_EQ(aclrtSetDevice(0), ACL_ERROR_RT_AICORE_EXCEPTION);
  }
  ASSERT_EQ(opserveAclSetFaults(""), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
}

TEST(AclFaultsOfTheEnvironmentTest, CountFromInit) {
  const Environment faults("OPSERVE_ACL_FAULTS", "malloc:1");
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  void* memory = nullptr;
  EXPECT_EQ(aclrtMalloc(&memory, 8, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
}

class AclGuardTest : public AclTest {
 protected:
  void SetUp() override {
    const Environment guard("OPSERVE_ACL_GUARD_MEMORY", "1");
    AclTest::SetUp();
  }
};

TEST_F(AclGuardTest, OperatorsAndCopiesWork) {
  Gradient gradient;
  EXPECT_EQ(gradient.Run(), ACL_SUCCESS);
  EXPECT_THAT(gradient.out().Read(), ElementsAre(-1, 2));
  char* inside = static_cast<char*>(gradient.out().data()) + 4;
  float second = 0;
  EXPECT_EQ(aclrtMemcpy(&second, 4, inside, 4, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(second, 2);
}

TEST_F(AclGuardTest, FollowingAnAddressFaults) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const FloatTensor tensor({1}, {1});
  const volatile float* address = static_cast<const float*>(tensor.data());
  EXPECT_DEATH({ [[maybe_unused]] const float value = *address; }, "");
}

// Each thread with a context of its own, and streams in it.
TEST(AclThreadsTest, WorkSideBySide) {
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      void* context = nullptr;
      ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
      for (int run = 0; run < 50; ++run) {
        Gradient gradient;
        ASSERT_EQ(gradient.Run(), ACL_SUCCESS);
        ASSERT_THAT(gradient.out().Read(), ElementsAre(-1, 2));
        EXPECT_EQ(aclrtFree(context), ACL_ERROR_RT_PARAM_INVALID);
      }
      EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("dev_ptr"));
      EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(CountLiveOfAllKinds(), 0);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
}

// One default context for all, set and reset by each.
TEST(AclThreadsTest, ShareADevice) {
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int run = 0; run < 20; ++run) {
        ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        void* stream = nullptr;
        ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
        ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
        ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
        ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(aclrtResetDevice(0), ACL_ERROR_RT_INVALID_DEVICEID) << "all were undone";
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
}

}  // namespace
}  // namespace opserve::acl_test
