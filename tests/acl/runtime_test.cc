// The library's life, devices and contexts.
#include <thread>

#include "gmock/gmock.h"
#include "tests/acl/acl_fixture.h"

namespace opserve::acl_test {
namespace {

using ::testing::HasSubstr;

TEST(AclLifeTest, InitAndFinalizeCount) {
  EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
  EXPECT_EQ(aclInit("a file that nobody reads"), ACL_SUCCESS);
  EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS) << "the first aclInit still counts";
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
}

TEST(AclLifeTest, BeforeInitEverythingIsUninitialized) {
  void* pointer = nullptr;
  int32_t device = 0;
  uint32_t count = 0;
  aclrtRunMode mode = ACL_HOST;
  EXPECT_EQ(aclrtSetDevice(0), ACL_ERROR_UNINITIALIZE);
  EXPECT_EQ(aclrtResetDevice(0), ACL_ERROR_UNINITIALIZE);
  EXPECT_EQ(aclrtGetDevice(&device), ACL_ERROR_UNINITIALIZE);
  EXPECT_EQ(aclrtGetDeviceCount(&count), ACL_ERROR_UNINITIALIZE);
  EXPECT_EQ(aclrtGetRunMode(&mode), ACL_ERROR_UNINITIALIZE);
  EXPECT_EQ(aclrtCreateContext(&pointer, 0), ACL_ERROR_UNINITIALIZE);
  EXPECT_EQ(aclrtCreateStream(&pointer), ACL_ERROR_UNINITIALIZE);
  EXPECT_EQ(aclrtMalloc(&pointer, 8, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_UNINITIALIZE);
  EXPECT_EQ(aclrtFree(&device), ACL_ERROR_UNINITIALIZE);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_UNINITIALIZE);
  EXPECT_EQ(aclrtGetSocName(), nullptr);
  EXPECT_EQ(aclDestroyAclOpExecutor(Foreign<aclOpExecutor>()), ACLNN_ERR_RUNTIME_ERROR);
}

TEST(AclLifeTest, FinalizeEndsWhatWasNotDestroyed) {
  void* stream = nullptr;
  void* memory = nullptr;
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtMalloc(&memory, 1000, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(memory, 1000, 1, 1000, stream), ACL_SUCCESS);
  ASSERT_EQ(aclFinalize(), ACL_SUCCESS);
  EXPECT_EQ(CountLiveOfAllKinds(), 0);
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_CONTEXT_NULL);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtFree(memory), ACL_ERROR_RT_PARAM_INVALID);
  ASSERT_EQ(aclFinalize(), ACL_SUCCESS);
}

TEST(AclLifeTest, MessagesAreTheThreadsAndToldOnce) {
  EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
  std::thread([] { EXPECT_STREQ(aclGetRecentErrMsg(), ""); }).join();
  EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("want an aclInit before it"));
  EXPECT_STREQ(aclGetRecentErrMsg(), "");
}

TEST(AclLifeTest, VariablesThatMakeNoSenseFailInit) {
  struct Case {
    const char* name;
    const char* value;
    const char* message;
  };
  for (const Case& bad :
       {Case{"OPSERVE_ACL_DEVICES", "gpu", "OPSERVE_ACL_DEVICES"},
        Case{"OPSERVE_ACL_DEVICES", "cpu;", "OPSERVE_ACL_DEVICES"},
        Case{"OPSERVE_ACL_MEMORY_LIMIT", "much", "want a number of bytes > 0, got \"much\""},
        Case{"OPSERVE_ACL_MEMORY_LIMIT", "0", "OPSERVE_ACL_MEMORY_LIMIT"},
        Case{"OPSERVE_ACL_GUARD_MEMORY", "yes", "want 0 or 1, got \"yes\""},
        Case{"OPSERVE_ACL_FAULTS", "malloc", "want NAME:NTH[=CODE]"}}) {
    const Environment variable(bad.name, bad.value);
    EXPECT_EQ(aclInit(nullptr), ACL_ERROR_INVALID_PARAM) << bad.name;
    EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr(bad.message));
  }
  EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
}

TEST(AclLifeTest, DevicesAreThoseOfTheEnvironment) {
  const Environment devices("OPSERVE_ACL_DEVICES", "cpu,threads=1,profile=atlas-a2;cpu,threads=1");
  const Environment limit("OPSERVE_ACL_MEMORY_LIMIT", "1048576");
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS) << aclGetRecentErrMsg();
  uint32_t count = 0;
  EXPECT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
  EXPECT_EQ(count, 2u);
  EXPECT_STREQ(aclrtGetSocName(), "opserve-atlas-a2");
  {
    const Environment name("OPSERVE_ACL_SOC_NAME", "another");
    EXPECT_STREQ(aclrtGetSocName(), "another");
  }
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  size_t free = 0;
  size_t total = 0;
  EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
  EXPECT_EQ(total, 524288u);
  EXPECT_EQ(free, total);
  void* memory = nullptr;
  EXPECT_EQ(aclrtMalloc(&memory, 524289, ACL_MEM_MALLOC_HUGE_FIRST),
            ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
}

TEST(AclLifeTest, RemoteDevicesNeedTheirLibrary) {
  const Environment target("OPSERVE_TARGET", "localhost:1");
  const Environment library("OPSERVE_ACL_REMOTE_LIBRARY", "/nowhere/libopserve_acl_remote.so");
  EXPECT_EQ(aclInit(nullptr), ACL_ERROR_API_NOT_SUPPORT);
  const std::string message = aclGetRecentErrMsg();
  EXPECT_THAT(message, HasSubstr("OPSERVE_TARGET is set, but the library of remote devices"));
  EXPECT_THAT(message, HasSubstr("/nowhere/libopserve_acl_remote.so"));
  EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
}

using AclRuntimeTest = AclTest;

TEST_F(AclRuntimeTest, Queries) {
  int32_t device = -1;
  uint32_t count = 0;
  aclrtRunMode mode = ACL_DEVICE;
  EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(aclrtGetRunMode(&mode), ACL_SUCCESS);
  EXPECT_EQ(mode, ACL_HOST);
  EXPECT_STREQ(aclrtGetSocName(), "opserve-host");
  EXPECT_EQ(aclrtGetDevice(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetDeviceCount(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetRunMode(nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST_F(AclRuntimeTest, DevicesThatThereAreNot) {
  void* context = nullptr;
  for (const int32_t device : {-1, 1, 1000}) {
    EXPECT_EQ(aclrtSetDevice(device), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_EQ(aclrtResetDevice(device), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_EQ(aclrtCreateContext(&context, device), ACL_ERROR_RT_INVALID_DEVICEID);
  }
  EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("want 0 <= device_id < 1, got 1000"));
}

TEST_F(AclRuntimeTest, SetDeviceCounts) {
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  int32_t device = -1;
  EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(aclrtResetDevice(0), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
}

TEST_F(AclRuntimeTest, MemoryOutlivesAReset) {
  void* memory = nullptr;
  ASSERT_EQ(aclrtMalloc(&memory, 8, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
}

TEST_F(AclRuntimeTest, ContextsAreMadeCurrentAndDestroyed) {
  void* standard = nullptr;
  void* context = nullptr;
  void* current = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&standard), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetCurrentContext(&current), ACL_SUCCESS);
  EXPECT_EQ(current, context);
  EXPECT_EQ(opserveAclCountLive(OPSERVE_ACL_CONTEXTS), 1);
  EXPECT_EQ(aclrtSetCurrentContext(standard), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetCurrentContext(&current), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(aclrtSetCurrentContext(context), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtDestroyContext(standard), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSetCurrentContext(standard), ACL_SUCCESS);
}

TEST_F(AclRuntimeTest, ContextsThatAreNone) {
  EXPECT_EQ(aclrtCreateContext(nullptr, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetCurrentContext(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtSetCurrentContext(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDestroyContext(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtSetCurrentContext(Foreign<void>()), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtDestroyContext(Foreign<void>()), ACL_ERROR_RT_INVALID_HANDLE);
  void* stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetCurrentContext(stream), ACL_ERROR_RT_INVALID_HANDLE) << "of another kind";
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

TEST_F(AclRuntimeTest, AContextTakesItsStreamsAndEventsAlong) {
  void* standard = nullptr;
  void* context = nullptr;
  void* stream = nullptr;
  void* event = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&standard), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetCurrentContext(standard), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(AclRuntimeTest, ResettingADeviceLeavesOtherContexts) {
  void* context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  void* stream = nullptr;
  EXPECT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
}

TEST_F(AclRuntimeTest, CountsKnowTheirKinds) {
  EXPECT_EQ(opserveAclCountLive(static_cast<opserveAclKind>(-1)), -1);
  EXPECT_EQ(opserveAclCountLive(static_cast<opserveAclKind>(11)), -1);
}

TEST(AclLeakTest, ReportNamesWhatIsLeft) {
  const Environment report("OPSERVE_ACL_REPORT_LEAKS", "1");
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  void* stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  aclTensor* tensor =
      aclCreateTensor(nullptr, 0, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, nullptr);
  ::testing::internal::CaptureStderr();
  ASSERT_EQ(aclFinalize(), ACL_SUCCESS);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "opserve_acl: aclFinalize: 1 tensors not destroyed\n"
            "opserve_acl: aclFinalize: 1 streams not destroyed\n");
  EXPECT_EQ(aclDestroyTensor(tensor), ACLNN_SUCCESS) << "it outlives the library's life";
}

}  // namespace
}  // namespace opserve::acl_test
