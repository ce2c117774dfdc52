// Servers that are not there, and one that goes.
#include "gmock/gmock.h"
#include "tests/acl/remote/remote_fixture.h"

namespace opserve::acl_test {
namespace {

using ::testing::HasSubstr;

TEST(AclRemoteTargetTest, ThatIsNoneIsABadVariable) {
  const Environment target("OPSERVE_TARGET", "nowhere");
  EXPECT_EQ(aclInit(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("aclInit: OPSERVE_TARGET: want"));
  EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
}

TEST(AclRemoteTargetTest, ThatCannotBeReachedIsNamed) {
  const TemporaryFolder folder;
  const std::string target = "unix:" + folder.path() + "/nobody";
  const Environment variable("OPSERVE_TARGET", target.c_str());
  EXPECT_EQ(aclInit(nullptr), ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("the server of OPSERVE_TARGET=" + target));
}

// A program in the middle of its work, whose server is killed then.
class AclServerLostTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS) << aclGetRecentErrMsg();
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtMalloc(&memory_, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateEvent(&event_), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordEvent(event_, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  }
  void TearDown() override { EXPECT_EQ(aclFinalize(), ACL_SUCCESS); }

  static void ExpectLost(aclError got, aclError want = ACL_ERROR_RT_AICORE_EXCEPTION) {
    EXPECT_EQ(got, want);
    EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("is lost"));
  }

  static constexpr size_t kBytes = size_t{1} << 20;
  RemoteServer server_;
  std::vector<char> host_ = std::vector<char>(kBytes);
  void* memory_ = nullptr;
  void* stream_ = nullptr;
  void* event_ = nullptr;
};

TEST_F(AclServerLostTest, EveryLaterCallSaysSo) {
  const FloatTensor tensor({2}, {1, 2});
  const FloatTensor out({2}, {9, 9});
  Planned planned;
  Planned more;
  ASSERT_EQ(PlanL1(tensor, tensor, out, planned), ACLNN_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  server_.Kill();
  ExpectLost(aclrtSynchronizeStream(stream_));
  ExpectLost(aclrtSynchronizeStream(stream_));
  ExpectLost(aclrtSynchronizeStreamWithTimeout(stream_, 1000));
  ExpectLost(PlanL1(tensor, tensor, out, more), ACLNN_ERR_RUNTIME_ERROR);
  ExpectLost(aclnnL1LossBackward(nullptr, 0, planned.executor, stream_), ACLNN_ERR_RUNTIME_ERROR);
  void* pointer = nullptr;
  ExpectLost(aclrtMalloc(&pointer, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  ExpectLost(aclrtMemcpy(memory_, 8, host_.data(), 8, ACL_MEMCPY_HOST_TO_DEVICE));
  ExpectLost(aclrtMemcpy(host_.data(), 8, memory_, 8, ACL_MEMCPY_DEVICE_TO_HOST));
  ExpectLost(aclrtMemset(memory_, 8, 0, 8));
  ExpectLost(aclrtMemsetAsync(memory_, 8, 0, 8, stream_));
  ExpectLost(aclrtCreateStream(&pointer));
  ExpectLost(aclrtCreateEvent(&pointer));
  ExpectLost(aclrtRecordEvent(event_, stream_));
  ExpectLost(aclrtSynchronizeEvent(event_));
  size_t free = 0;
  ExpectLost(aclrtGetMemInfo(ACL_HBM_MEM, &free, &free));
  EXPECT_EQ(aclrtFree(memory_), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(event_), ACL_SUCCESS);
}

// The host's memory may go when the wait for it has ended, however that was.
TEST_F(AclServerLostTest, WithTransfersOnTheirWay) {
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(
        aclrtMemcpyAsync(memory_, kBytes, host_.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream_),
        ACL_SUCCESS);
    ASSERT_EQ(
        aclrtMemcpyAsync(host_.data(), kBytes, memory_, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream_),
        ACL_SUCCESS);
  }
  server_.Kill();
  ExpectLost(aclrtSynchronizeStream(stream_));
  host_ = {};
  ExpectLost(aclrtSynchronizeStream(stream_));
}

TEST_F(AclServerLostTest, ANewStartMayFindAnother) {
  server_.Kill();
  ExpectLost(aclrtSynchronizeStream(stream_));
  ASSERT_EQ(aclFinalize(), ACL_SUCCESS);
  const RemoteServer next;
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS) << aclGetRecentErrMsg();
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  void* pointer = nullptr;
  EXPECT_EQ(aclrtMalloc(&pointer, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
}

}  // namespace
}  // namespace opserve::acl_test
