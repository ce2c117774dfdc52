// What is different, or might be, when the devices are a server's.
#include <algorithm>
#include <thread>

#include "aclnnop/aclnn_ctc_loss.h"
#include "gmock/gmock.h"
#include "tests/acl/remote/remote_fixture.h"

namespace opserve::acl_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class AclRemoteTest : public AclTest {
 protected:
  RemoteServer server_;
};

TEST_F(AclRemoteTest, IsTheServersDevice) {
  EXPECT_STREQ(aclrtGetSocName(), "opserve-host");
  uint32_t count = 0;
  EXPECT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
  EXPECT_EQ(count, 1u);
}

TEST_F(AclRemoteTest, FollowingAnAddressFaults) {
  void* memory = nullptr;
  ASSERT_EQ(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_DEATH(static_cast<volatile char*>(memory)[0] = 1, "");
  EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
}

// Each upload is on its way when the next work is put on the stream, which must see it all the
// same.
TEST_F(AclRemoteTest, UploadsComeBeforeTheWorkBehindThem) {
  const FloatTensor grad({2}, {1, 1});
  const FloatTensor self({2}, {0, 0});
  const FloatTensor out({2}, {9, 9});
  for (int i = 0; i < 100; ++i) {
    const float values[] = {i % 2 == 0 ? 5.0f : -5.0f, 5.0f};
    ASSERT_EQ(aclrtMemcpy(self.data(), 8, values, 8, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    Planned planned;
    ASSERT_EQ(PlanL1(grad, self, out, planned), ACLNN_SUCCESS);
    ASSERT_EQ(RunToEnd(aclnnL1LossBackward, planned), ACL_SUCCESS);
    ASSERT_THAT(out.Read(), ElementsAre(i % 2 == 0 ? 1 : -1, 1));
  }
}

// In chunks there and back, waited for and not.
TEST_F(AclRemoteTest, MovesMoreThanAMessageHolds) {
  constexpr size_t kSentBytes = 5 * kMiB + 3;
  std::vector<unsigned char> sent(kSentBytes);
  for (size_t i = 0; i < kSentBytes; ++i) sent[i] = static_cast<unsigned char>(i * 31 + i / 4093);
  std::vector<unsigned char> received(kSentBytes);
  void* memory = nullptr;
  ASSERT_EQ(aclrtMalloc(&memory, kSentBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(memory, kSentBytes, sent.data(), kSentBytes, ACL_MEMCPY_HOST_TO_DEVICE), 0);
  EXPECT_EQ(aclrtMemcpy(received.data(), kSentBytes, memory, kSentBytes, ACL_MEMCPY_DEVICE_TO_HOST),
            0);
  EXPECT_EQ(received, sent);
  std::reverse(sent.begin(), sent.end());
  EXPECT_EQ(aclrtMemcpyAsync(memory, kSentBytes, sent.data(), kSentBytes, ACL_MEMCPY_HOST_TO_DEVICE,
                             nullptr),
            0);
  EXPECT_EQ(aclrtMemcpyAsync(received.data(), kSentBytes, memory, kSentBytes,
                             ACL_MEMCPY_DEVICE_TO_HOST, nullptr),
            0);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(received, sent);
  EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
}

// Each thread has a stream and sees its own values alone.
void RunOnAStreamOfItsOwn(float sign) {
  void* stream = nullptr;
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  {
    const FloatTensor grad({2}, {1, 1});
    const FloatTensor self({2}, {5 * sign, 5 * sign + 1});
    const FloatTensor out({2}, {9, 9});
    for (int i = 0; i < 50; ++i) {
      Planned planned;
      ASSERT_EQ(PlanL1(grad, self, out, planned), ACLNN_SUCCESS) << aclGetRecentErrMsg();
      ASSERT_EQ(aclnnL1LossBackward(nullptr, 0, planned.executor, stream), ACLNN_SUCCESS);
      std::vector<float> values(2);
      ASSERT_EQ(
          aclrtMemcpyAsync(values.data(), 8, out.data(), 8, ACL_MEMCPY_DEVICE_TO_HOST, stream),
          ACL_SUCCESS);
      ASSERT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 60000), ACL_SUCCESS);
      ASSERT_THAT(values, ElementsAre(sign, sign));
    }
  }
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

TEST_F(AclRemoteTest, ThreadsWorkSideBySide) {
  std::thread other([] { RunOnAStreamOfItsOwn(-1); });
  RunOnAStreamOfItsOwn(1);
  other.join();
}

// A label that is no class: known when the work runs.
void PutAFailureOn(void* stream, const FloatTensor& log_probs, const FloatTensor& loss,
                   const FloatTensor& log_alpha) {
  const DeviceTensor<int64_t> targets(ACL_INT64, {1, 1}, {3});
  const int64_t two = 2;
  const int64_t one = 1;
  const aclIntArray* input_lengths = aclCreateIntArray(&two, 1);
  const aclIntArray* target_lengths = aclCreateIntArray(&one, 1);
  Planned planned;
  ASSERT_EQ(aclnnCtcLossGetWorkspaceSize(log_probs.get(), targets.get(), input_lengths,
                                         target_lengths, 0, false, loss.get(), log_alpha.get(),
                                         &planned.workspace_size, &planned.executor),
            ACLNN_SUCCESS)
      << aclGetRecentErrMsg();
  const Workspace workspace(planned.workspace_size);
  EXPECT_EQ(aclnnCtcLoss(workspace.data(), planned.workspace_size, planned.executor, stream),
            ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyIntArray(input_lengths), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyIntArray(target_lengths), ACLNN_SUCCESS);
}

TEST_F(AclRemoteTest, AFailureIsItsStreams) {
  void* other = nullptr;
  ASSERT_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
  {
    const FloatTensor log_probs({2, 1, 3}, std::vector<float>(6, -1));
    const FloatTensor loss({1}, {9});
    const FloatTensor log_alpha({1, 2, 3}, std::vector<float>(6, 9));
    PutAFailureOn(other, log_probs, loss, log_alpha);
    EXPECT_EQ(aclrtMemsetAsync(loss.data(), 4, 0, 4, other), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS) << "another stream's";
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(other, 60000), ACL_ERROR_RT_AICORE_EXCEPTION);
    EXPECT_THAT(aclGetRecentErrMsg(),
                AllOf(HasSubstr("CtcLoss: targets: want"), HasSubstr("RunExecutor of CtcLoss")));
    EXPECT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS) << "it is told once";
    EXPECT_THAT(loss.Read(), ElementsAre(0)) << "what is behind it runs";
  }
  EXPECT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
}

TEST_F(AclRemoteTest, AServerThatDoesNotAnswerIsATimeout) {
  void* event = nullptr;
  ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  server_.Pause();
  EXPECT_EQ(aclrtRecordEvent(event, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(nullptr, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  server_.Continue();
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(nullptr, 60000), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeEvent(event), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
}

// Both phases of a call that was not made before, and its end.
void RunL1(const FloatTensor& grad, const FloatTensor& self, const FloatTensor& out) {
  Planned planned;
  ASSERT_EQ(PlanL1(grad, self, out, planned), ACLNN_SUCCESS) << aclGetRecentErrMsg();
  ASSERT_EQ(RunToEnd(aclnnL1LossBackward, planned), ACL_SUCCESS);
}

TEST_F(AclRemoteTest, PhaseOneOfACallMadeBeforeWaitsForNothing) {
  const FloatTensor grad({2}, {1, 1});
  const FloatTensor self({2}, {5, -5});
  const FloatTensor out({2}, {9, 9});
  RunL1(grad, self, out);
  Planned planned;
  ASSERT_THAT(out.Read(), ElementsAre(1, -1));
  server_.Pause();
  ASSERT_EQ(PlanL1(grad, self, out, planned), ACLNN_SUCCESS);
  server_.Continue();
  ASSERT_EQ(aclrtMemset(out.data(), 8, 0, 8), ACL_SUCCESS);
  ASSERT_EQ(RunToEnd(aclnnL1LossBackward, planned), ACL_SUCCESS);
  EXPECT_THAT(out.Read(), ElementsAre(1, -1));
  // Another tensor is another call, and so is another output.
  const FloatTensor turned({2}, {-5, 5});
  const FloatTensor other({2}, {9, 9});
  RunL1(grad, turned, other);
  EXPECT_THAT(other.Read(), ElementsAre(-1, 1));
  EXPECT_THAT(out.Read(), ElementsAre(1, -1));
}

// An attribute's value decides, too: a call that was right before is refused with another one.
TEST_F(AclRemoteTest, PhaseOneRefusesWhatIsDifferent) {
  const FloatTensor grad({2}, {1, 1});
  const FloatTensor self({2}, {5, -5});
  const FloatTensor out({2}, {9, 9});
  RunL1(grad, self, out);
  Planned planned;
  EXPECT_EQ(aclnnL1LossBackwardGetWorkspaceSize(grad.get(), self.get(), grad.get(), 7, out.get(),
                                                &planned.workspace_size, &planned.executor),
            ACLNN_ERR_PARAM_INVALID);
  EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("reduction"));
  EXPECT_EQ(aclnnL1LossBackwardGetWorkspaceSize(grad.get(), self.get(), grad.get(), 1, out.get(),
                                                &planned.workspace_size, &planned.executor),
            ACLNN_SUCCESS);
  ASSERT_EQ(RunToEnd(aclnnL1LossBackward, planned), ACL_SUCCESS);
  EXPECT_THAT(out.Read(), ElementsAre(0.5, -0.5));
}

// The server could not make the executor, and nobody waited for its answer.
TEST(AclRemoteLimitsTest, AreToldByTheSynchronizationWherePhaseOneDidNotWait) {
  const RemoteServer server({"--session-max-handles", "16"});
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS) << aclGetRecentErrMsg();
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  {
    const FloatTensor grad({2}, {1, 1});
    const FloatTensor self({2}, {5, -5});
    const FloatTensor out({2}, {9, 9});
    RunL1(grad, self, out);
    Planned planned;
    for (int i = 0; i < 16; ++i) ASSERT_EQ(PlanL1(grad, self, out, planned), ACLNN_SUCCESS);
    EXPECT_NE(RunToEnd(aclnnL1LossBackward, planned), ACL_SUCCESS);
    EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("want at most 16 handles in the session"));
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS) << "it is told once";
  }
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
}

// Executors go when they have run, whether or not anybody synchronizes.
TEST(AclRemoteLimitsTest, CallsMadeAgainHoldNothing) {
  const RemoteServer server({"--session-max-handles", "16"});
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS) << aclGetRecentErrMsg();
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  {
    const FloatTensor grad({2}, {1, 1});
    const FloatTensor self({2}, {5, -5});
    const FloatTensor out({2}, {9, 9});
    RunL1(grad, self, out);
    for (int i = 0; i < 100; ++i) {
      Planned planned;
      ASSERT_EQ(PlanL1(grad, self, out, planned), ACLNN_SUCCESS);
      ASSERT_EQ(aclnnL1LossBackward(nullptr, 0, planned.executor, nullptr), ACLNN_SUCCESS);
    }
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS) << aclGetRecentErrMsg();
  }
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
}

TEST(AclRemoteLimitsTest, AreToldByTheCallThatMeetsThem) {
  const RemoteServer server({"--session-memory-limit", "1MiB"});
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS) << aclGetRecentErrMsg();
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  size_t free = 0;
  size_t total = 0;
  EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
  EXPECT_EQ(total, kMiB);
  EXPECT_EQ(free, kMiB);
  void* memory = nullptr;
  EXPECT_EQ(aclrtMalloc(&memory, 2 * kMiB, ACL_MEM_MALLOC_HUGE_FIRST),
            ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("want"));
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS) << "it was told";
  EXPECT_EQ(aclrtMalloc(&memory, kMiB / 2, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
}

TEST(AclRemoteDevicesTest, AreAllOfTheServers) {
  const RemoteServer server({"--device", "cpu,threads=1", "--device", "cpu,threads=1"});
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS) << aclGetRecentErrMsg();
  void* first = nullptr;
  void* second = nullptr;
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtMalloc(&first, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  ASSERT_EQ(aclrtMalloc(&second, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(first, 64, 5, 64), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(second, 64, first, 64, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
  char last = 0;
  EXPECT_EQ(aclrtMemcpy(&last, 1, static_cast<char*>(second) + 63, 1, ACL_MEMCPY_DEVICE_TO_HOST),
            ACL_SUCCESS);
  EXPECT_EQ(last, 5);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
}

}  // namespace
}  // namespace opserve::acl_test
