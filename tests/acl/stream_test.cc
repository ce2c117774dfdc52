// Streams and events.
#include <thread>

#include "tests/acl/acl_fixture.h"

namespace opserve::acl_test {
namespace {

// A second context beside the default one, which is current.
class AclStreamTest : public AclTest {
 protected:
  void SetUp() override {
    AclTest::SetUp();
    ASSERT_EQ(aclrtGetCurrentContext(&standard_), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateContext(&other_, 0), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateStream(&others_stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetCurrentContext(standard_), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateEvent(&event_), ACL_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(aclrtSetCurrentContext(standard_), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyEvent(event_), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyContext(other_), ACL_SUCCESS);
    AclTest::TearDown();
  }

  void* standard_ = nullptr;
  void* other_ = nullptr;
  void* others_stream_ = nullptr;
  void* stream_ = nullptr;
  void* event_ = nullptr;
};

TEST_F(AclStreamTest, AreMadeWithAnyPriorityAndFlag) {
  void* stream = nullptr;
  ASSERT_EQ(aclrtCreateStreamWithConfig(&stream, 3, 1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtCreateStream(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCreateStreamWithConfig(nullptr, 0, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDestroyStream(nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST_F(AclStreamTest, OfAnotherContextAreRefused) {
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  EXPECT_EQ(aclrtSynchronizeStream(others_stream_), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(others_stream_, 1), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtStreamQuery(others_stream_, &status), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtRecordEvent(event_, others_stream_), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtStreamWaitEvent(others_stream_, event_), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtMemsetAsync(&status, 4, 0, 4, others_stream_), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtMemcpyAsync(&status, 4, &status, 4, ACL_MEMCPY_DEFAULT, others_stream_),
            ACL_ERROR_RT_STREAM_CONTEXT);
}

TEST_F(AclStreamTest, ThatAreNoneAreRefused) {
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  for (void* bad : {Foreign<void>(), event_, standard_}) {
    EXPECT_EQ(aclrtSynchronizeStream(bad), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT_EQ(aclrtStreamQuery(bad, &status), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT_EQ(aclrtDestroyStream(bad), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT_EQ(aclrtRecordEvent(event_, bad), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT_EQ(aclrtStreamWaitEvent(bad, event_), ACL_ERROR_RT_INVALID_HANDLE);
  }
  EXPECT_EQ(aclrtStreamQuery(stream_, nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST_F(AclStreamTest, TimeoutsAreChecked) {
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, -2), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, -1), ACL_SUCCESS);
}

TEST_F(AclStreamTest, AWaitMayTimeOut) {
  constexpr size_t kMuch = 64 << 20;
  void* memory = nullptr;
  aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
  ASSERT_EQ(aclrtMalloc(&memory, kMuch, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  for (int i = 0; i < 50; ++i)
    ASSERT_EQ(aclrtMemsetAsync(memory, kMuch, i, kMuch, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamQuery(stream_, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_STREAM_STATUS_NOT_READY);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 0), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
}

TEST_F(AclStreamTest, AreIdleWhenTheirWorkHasEnded) {
  void* memory = nullptr;
  ASSERT_EQ(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  for (void* stream : {stream_, static_cast<void*>(nullptr)}) {
    EXPECT_EQ(aclrtMemsetAsync(memory, 4096, 1, 4096, stream), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    EXPECT_EQ(aclrtStreamQuery(stream, &status), ACL_SUCCESS);
    EXPECT_EQ(status, ACL_STREAM_STATUS_COMPLETE);
  }
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
}

TEST_F(AclStreamTest, EventsThatAreNoneAreRefused) {
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
  float ms = 0;
  for (void* bad : {Foreign<void>(), stream_}) {
    EXPECT_EQ(aclrtDestroyEvent(bad), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT_EQ(aclrtRecordEvent(bad, stream_), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT_EQ(aclrtSynchronizeEvent(bad), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT_EQ(aclrtQueryEventStatus(bad, &status), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT_EQ(aclrtStreamWaitEvent(stream_, bad), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT_EQ(aclrtEventElapsedTime(&ms, bad, event_), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT_EQ(aclrtEventElapsedTime(&ms, event_, bad), ACL_ERROR_RT_INVALID_HANDLE);
  }
  EXPECT_EQ(aclrtCreateEvent(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCreateEventWithFlag(nullptr, ACL_EVENT_SYNC), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDestroyEvent(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtRecordEvent(nullptr, stream_), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtQueryEventStatus(event_, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtEventElapsedTime(nullptr, event_, event_), ACL_ERROR_INVALID_PARAM);
}

TEST_F(AclStreamTest, AnEventWithoutARecordingIsNotReady) {
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
  float ms = 0;
  EXPECT_EQ(aclrtQueryEventStatus(event_, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_NOT_READY);
  EXPECT_EQ(aclrtSynchronizeEvent(event_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtStreamWaitEvent(stream_, event_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtEventElapsedTime(&ms, event_, event_), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(AclStreamTest, EventsOrderStreamsAndMeasureTime) {
  void* second = nullptr;
  void* memory = nullptr;
  void* end = nullptr;
  constexpr size_t kLarge = 1 << 20;
  ASSERT_EQ(aclrtCreateStream(&second), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEvent(&end), ACL_SUCCESS);
  ASSERT_EQ(aclrtMalloc(&memory, kLarge, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(aclrtMemsetAsync(memory, kLarge, i, kLarge, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordEvent(event_, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamWaitEvent(second, event_), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemsetAsync(memory, kLarge, i + 100, kLarge, second), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordEvent(end, second), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeEvent(end), ACL_SUCCESS);
    unsigned char last = 0;
    ASSERT_EQ(aclrtMemcpy(&last, 1, static_cast<char*>(memory) + kLarge - 1, 1,
                          ACL_MEMCPY_DEVICE_TO_HOST),
              ACL_SUCCESS);
    ASSERT_EQ(last, i + 100);
  }
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  EXPECT_EQ(aclrtQueryEventStatus(end, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
  float ms = -1;
  EXPECT_EQ(aclrtEventElapsedTime(&ms, event_, end), ACL_SUCCESS);
  EXPECT_GE(ms, 0);
  EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(end), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(second), ACL_SUCCESS);
}

TEST_F(AclStreamTest, FlagsOfEvents) {
  void* event = nullptr;
  float ms = 0;
  for (const uint32_t flag : {0u, 2u, ACL_EVENT_SYNC | 4u})
    EXPECT_EQ(aclrtCreateEventWithFlag(&event, flag), ACL_ERROR_INVALID_PARAM);
  ASSERT_EQ(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC), ACL_SUCCESS);
  EXPECT_EQ(aclrtRecordEvent(event, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeEvent(event), ACL_SUCCESS);
  EXPECT_EQ(aclrtEventElapsedTime(&ms, event, event), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEventWithFlag(&event, ACL_EVENT_TIME_LINE), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
}

TEST_F(AclStreamTest, AnEventOrdersStreamsOfTwoContexts) {
  EXPECT_EQ(aclrtRecordEvent(event_, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetCurrentContext(other_), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamWaitEvent(others_stream_, event_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(others_stream_), ACL_SUCCESS);
}

TEST_F(AclStreamTest, AThreadWithoutAContextIsTold) {
  std::thread([this] {
    void* pointer = nullptr;
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    EXPECT_EQ(aclrtGetCurrentContext(&pointer), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtCreateStream(&pointer), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtCreateEvent(&pointer), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtStreamQuery(stream_, &status), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtRecordEvent(event_, stream_), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtSetCurrentContext(standard_), ACL_SUCCESS);
    EXPECT_EQ(aclrtRecordEvent(event_, stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeEvent(event_), ACL_SUCCESS);
  }).join();
}

}  // namespace
}  // namespace opserve::acl_test
