// Programs that give a server work faster than it ends, within few commands under way.
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "tests/acl/remote/remote_fixture.h"

namespace opserve::acl_test {
namespace {

using ::testing::AnyOf;
using ::testing::Each;
using ::testing::HasSubstr;

constexpr size_t kLargeBytes = 128 * kMiB;

class AclRemoteQueueTest : public ::testing::Test {
 protected:
  void Start(std::vector<std::string> flags) {
    server_ = std::make_unique<RemoteServer>(std::move(flags));
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS) << aclGetRecentErrMsg();
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtMalloc(&from_, kLargeBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    ASSERT_EQ(aclrtMalloc(&to_, kLargeBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemset(from_, kLargeBytes, 7, kLargeBytes), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  }
  void TearDown() override { EXPECT_EQ(aclFinalize(), ACL_SUCCESS); }

  // Work that takes a while: each some milliseconds.
  void CopyOften(int times) {
    for (int i = 0; i < times; ++i) {
      ASSERT_EQ(aclrtMemcpyAsync(to_, kLargeBytes, from_, kLargeBytes, ACL_MEMCPY_DEVICE_TO_DEVICE,
                                 nullptr),
                ACL_SUCCESS);
    }
  }

  size_t FreeBytes() {
    size_t free = 0;
    size_t total = 0;
    EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
    return free;
  }

  std::unique_ptr<RemoteServer> server_;
  void* from_ = nullptr;
  void* to_ = nullptr;
};

TEST_F(AclRemoteQueueTest, WhatIsFreedIsFreeWhenTheQueueIsFull) {
  Start({"--session-max-queued", "8"});
  std::vector<void*> more(4);
  const size_t free = FreeBytes();
  for (void*& memory : more)
    ASSERT_EQ(aclrtMalloc(&memory, kMiB, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  CopyOften(20);
  for (void* memory : more) EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("at most 8 commands under way"));
  EXPECT_EQ(FreeBytes(), free);
}

TEST_F(AclRemoteQueueTest, ASynchronizationWaitsWhenTheQueueIsFull) {
  Start({"--session-max-queued", "8"});
  CopyOften(4);
  std::vector<unsigned char> host(kMiB);
  ASSERT_EQ(aclrtMemcpyAsync(host.data(), kMiB, to_, kMiB, ACL_MEMCPY_DEVICE_TO_HOST, nullptr),
            ACL_SUCCESS);
  CopyOften(20);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_THAT(host, Each(7));
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
}

TEST_F(AclRemoteQueueTest, PollsLeaveNothingBehind) {
  Start({"--session-max-queued", "64"});
  CopyOften(40);
  for (int i = 0; i < 100; ++i) {
    EXPECT_THAT(aclrtSynchronizeStreamWithTimeout(nullptr, 0),
                AnyOf(ACL_SUCCESS, ACL_ERROR_RT_STREAM_SYNC_TIMEOUT))
        << aclGetRecentErrMsg();
  }
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS) << aclGetRecentErrMsg();
}

// Small ones are copied, but not without end.
TEST_F(AclRemoteQueueTest, UploadsWaitForAServerThatReadsNothing) {
  Start({});
  constexpr size_t kUploadBytes = size_t{64} << 10;
  const std::vector<char> host(kUploadBytes, 5);
  server_->Pause();
  std::future<void> sent = std::async(std::launch::async, [&] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    for (int i = 0; i < 1024; ++i) {
      ASSERT_EQ(
          aclrtMemcpy(to_, kUploadBytes, host.data(), kUploadBytes, ACL_MEMCPY_HOST_TO_DEVICE),
          ACL_SUCCESS);
    }
  });
  EXPECT_EQ(sent.wait_for(std::chrono::seconds(1)), std::future_status::timeout);
  server_->Continue();
  sent.get();
}

}  // namespace
}  // namespace opserve::acl_test
