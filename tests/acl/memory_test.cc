// Memory, copies and fills.
#include <cstring>
#include <limits>
#include <thread>

#include "gmock/gmock.h"
#include "tests/acl/acl_fixture.h"

namespace opserve::acl_test {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

constexpr size_t kBytes = 256;

// Two allocations of the device, a and b.
class AclMemoryTest : public AclTest {
 protected:
  void SetUp() override {
    AclTest::SetUp();
    ASSERT_EQ(aclrtMalloc(&a_, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    ASSERT_EQ(aclrtMalloc(&b_, kBytes, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(aclrtFree(a_), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(b_), ACL_SUCCESS);
    AclTest::TearDown();
  }

  static void* At(void* start, size_t offset) { return static_cast<char*>(start) + offset; }

  void* a_ = nullptr;
  void* b_ = nullptr;
};

TEST_F(AclMemoryTest, AllocationsAreAlignedAndCounted) {
  size_t free_before = 0;
  size_t free_after = 0;
  size_t total = 0;
  EXPECT_EQ(reinterpret_cast<uintptr_t>(a_) % 64, 0u);
  EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free_before, &total), ACL_SUCCESS);
  void* more = nullptr;
  ASSERT_EQ(aclrtMalloc(&more, 1 << 20, ACL_MEM_MALLOC_HUGE_ONLY), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetMemInfo(ACL_DDR_MEM, &free_after, &total), ACL_SUCCESS);
  EXPECT_EQ(free_before - free_after, size_t{1} << 20);
  EXPECT_GT(total, free_before);
  EXPECT_EQ(opserveAclCountLive(OPSERVE_ACL_DEVICE_MEMORY), 3);
  EXPECT_EQ(aclrtFree(more), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(more), ACL_ERROR_RT_PARAM_INVALID) << "twice";
}

TEST_F(AclMemoryTest, BadAllocationsAreRefused) {
  void* memory = nullptr;
  size_t size = 0;
  EXPECT_EQ(aclrtMalloc(nullptr, 8, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMalloc(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMalloc(&memory, 8, static_cast<aclrtMemMallocPolicy>(77)),
            ACL_ERROR_INVALID_PARAM);
  for (const size_t much : {std::numeric_limits<size_t>::max(), size_t{1} << 62, size_t{1} << 63}) {
    EXPECT_EQ(aclrtMalloc(&memory, much, ACL_MEM_MALLOC_HUGE_FIRST),
              ACL_ERROR_RT_MEMORY_ALLOCATION);
  }
  EXPECT_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtFree(At(a_, 64)), ACL_ERROR_RT_PARAM_INVALID) << "not the start";
  EXPECT_EQ(aclrtFree(&memory), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, nullptr, &size), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &size, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetMemInfo(static_cast<aclrtMemAttr>(9), &size, &size), ACL_ERROR_INVALID_PARAM);
}

TEST_F(AclMemoryTest, HostMemory) {
  void* host = nullptr;
  ASSERT_EQ(aclrtMallocHost(&host, 100), ACL_SUCCESS);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(host) % 64, 0u);
  EXPECT_EQ(aclrtMemset(host, 100, 0x1FF, 100), ACL_SUCCESS) << "the low byte counts";
  EXPECT_EQ(static_cast<unsigned char*>(host)[99], 0xFF);
  EXPECT_EQ(aclrtMemset(At(host, 50), 100, 0, 51), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemsetAsync(host, 100, 0, 100, nullptr), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFreeHost(At(host, 1)), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFree(host), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFreeHost(host), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(host), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFreeHost(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMallocHost(nullptr, 8), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMallocHost(&host, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMallocHost(&host, std::numeric_limits<size_t>::max()), ACL_ERROR_BAD_ALLOC);
}

TEST_F(AclMemoryTest, CopiesGoEveryWay) {
  std::vector<int> sent(kBytes / sizeof(int));
  std::iota(sent.begin(), sent.end(), 1);
  std::vector<int> host(sent.size());
  std::vector<int> received(sent.size());
  EXPECT_EQ(aclrtMemcpy(host.data(), kBytes, sent.data(), kBytes, ACL_MEMCPY_HOST_TO_HOST), 0);
  EXPECT_EQ(aclrtMemcpy(a_, kBytes, host.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE), 0);
  EXPECT_EQ(aclrtMemcpy(b_, kBytes, a_, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE), 0);
  EXPECT_EQ(aclrtMemcpy(received.data(), kBytes, b_, kBytes, ACL_MEMCPY_DEVICE_TO_HOST), 0);
  EXPECT_EQ(received, sent);
  // The same by the addresses alone, and in a stream's turn.
  for (const bool async : {false, true}) {
    received.assign(sent.size(), 0);
    const auto copy = [&](void* to, const void* from) {
      return async ? aclrtMemcpyAsync(to, kBytes, from, kBytes, ACL_MEMCPY_DEFAULT, nullptr)
                   : aclrtMemcpy(to, kBytes, from, kBytes, ACL_MEMCPY_DEFAULT);
    };
    EXPECT_EQ(aclrtMemsetAsync(a_, kBytes, 0, kBytes, nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
    EXPECT_EQ(copy(a_, sent.data()), ACL_SUCCESS);
    EXPECT_EQ(copy(b_, a_), ACL_SUCCESS);
    EXPECT_EQ(copy(received.data(), b_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
    EXPECT_EQ(received, sent);
  }
}

TEST_F(AclMemoryTest, CopiesInsideAnAllocation) {
  std::vector<unsigned char> bytes(kBytes);
  std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(0));
  ASSERT_EQ(aclrtMemcpy(a_, kBytes, bytes.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE), 0);
  EXPECT_EQ(aclrtMemcpy(At(a_, 16), 16, a_, 16, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(At(a_, 15), 16, a_, 16, ACL_MEMCPY_DEVICE_TO_DEVICE),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("apart from src's"));
  ASSERT_EQ(aclrtMemcpy(bytes.data(), kBytes, a_, kBytes, ACL_MEMCPY_DEVICE_TO_HOST), 0);
  EXPECT_EQ(bytes[31], 15);
  EXPECT_EQ(bytes[32], 32);
}

TEST_F(AclMemoryTest, FillsABytePattern) {
  std::vector<unsigned char> bytes(kBytes);
  ASSERT_EQ(aclrtMemset(a_, kBytes, 7, kBytes), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(At(a_, 8), kBytes - 8, -1, 8, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpy(bytes.data(), kBytes, a_, kBytes, ACL_MEMCPY_DEVICE_TO_HOST), 0);
  EXPECT_THAT(std::vector(bytes.begin(), bytes.begin() + 8), Each(7));
  EXPECT_THAT(std::vector(bytes.begin() + 8, bytes.begin() + 16), Each(255));
  EXPECT_THAT(std::vector(bytes.begin() + 16, bytes.end()), Each(7));
}

TEST_F(AclMemoryTest, NothingToCopyIsFine) {
  EXPECT_EQ(aclrtMemcpy(nullptr, 0, nullptr, 0, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpyAsync(nullptr, 0, nullptr, 0, ACL_MEMCPY_HOST_TO_DEVICE, nullptr), 0);
  EXPECT_EQ(aclrtMemset(nullptr, 0, 0, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemsetAsync(nullptr, 0, 0, 0, nullptr), ACL_SUCCESS);
}

struct BadCopy {
  const char* what;
  void* to;
  size_t max;
  const void* from;
  size_t count;
  aclrtMemcpyKind kind;
  aclError code;
};

TEST_F(AclMemoryTest, BadCopiesAreRefused) {
  char host[kBytes] = {};
  const auto no_kind = static_cast<aclrtMemcpyKind>(5);
  constexpr aclError kNull = ACL_ERROR_INVALID_PARAM;
  constexpr aclError kBad = ACL_ERROR_RT_PARAM_INVALID;
  const BadCopy copies[] = {
      {"null dst", nullptr, 8, host, 8, ACL_MEMCPY_HOST_TO_DEVICE, kNull},
      {"null src", a_, 8, nullptr, 8, ACL_MEMCPY_HOST_TO_DEVICE, kNull},
      {"no kind", a_, 8, host, 8, no_kind, kNull},
      {"beyond dest_max", a_, 7, host, 8, ACL_MEMCPY_HOST_TO_DEVICE, kBad},
      {"host as dst", host, 8, b_, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, kBad},
      {"host as src", a_, 8, host, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, kBad},
      {"device as src", a_, 8, b_, 8, ACL_MEMCPY_HOST_TO_DEVICE, kBad},
      {"device as dst", a_, 8, host, 8, ACL_MEMCPY_DEVICE_TO_HOST, kBad},
      {"device in host to host", a_, 8, host, 8, ACL_MEMCPY_HOST_TO_HOST, kBad},
      {"leaves dst", At(a_, kBytes - 7), 8, host, 8, ACL_MEMCPY_HOST_TO_DEVICE, kBad},
      {"leaves src", host, 8, At(a_, kBytes - 7), 8, ACL_MEMCPY_DEVICE_TO_HOST, kBad},
  };
  for (const BadCopy& copy : copies) {
    EXPECT_EQ(aclrtMemcpy(copy.to, copy.max, copy.from, copy.count, copy.kind), copy.code)
        << copy.what;
    EXPECT_EQ(aclrtMemcpyAsync(copy.to, copy.max, copy.from, copy.count, copy.kind, nullptr),
              copy.code)
        << copy.what;
  }
  EXPECT_EQ(aclrtMemcpyAsync(host, 8, host + 8, 8, ACL_MEMCPY_HOST_TO_HOST, nullptr), kBad);
}

TEST_F(AclMemoryTest, BadFillsAreRefused) {
  int host = 0;
  EXPECT_EQ(aclrtMemset(nullptr, 8, 0, 8), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemset(a_, 7, 0, 8), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemset(a_, kBytes + 1, 0, kBytes + 1), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemset(&host, 4, 0, 4), ACL_ERROR_RT_PARAM_INVALID) << "nobody's memory";
  EXPECT_EQ(aclrtMemsetAsync(nullptr, 8, 0, 8, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemsetAsync(a_, 7, 0, 8, nullptr), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(AclMemoryTest, FreedWhileInUseEndsWell) {
  void* memory = nullptr;
  constexpr size_t kLarge = 16 << 20;
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(aclrtMalloc(&memory, kLarge, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemsetAsync(memory, kLarge, i, kLarge, nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtFree(memory), ACL_SUCCESS);
  }
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
}

TEST_F(AclMemoryTest, AThreadWithoutAContextIsTold) {
  std::thread([this] {
    void* memory = nullptr;
    size_t size = 0;
    EXPECT_EQ(aclrtMalloc(&memory, 8, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtMallocHost(&memory, 8), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtMemset(a_, 8, 0, 8), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtMemcpy(a_, 8, b_, 8, ACL_MEMCPY_DEFAULT), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &size, &size), ACL_ERROR_RT_CONTEXT_NULL);
  }).join();
}

TEST(AclTwoDevicesTest, MemoryIsADevices) {
  const Environment devices("OPSERVE_ACL_DEVICES", "cpu,threads=1;cpu,threads=1");
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  void* first = nullptr;
  void* second = nullptr;
  void* event = nullptr;
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtMalloc(&first, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  int32_t device = -1;
  EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
  EXPECT_EQ(device, 1);
  ASSERT_EQ(aclrtMalloc(&second, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(first, 64, 5, 64), ACL_SUCCESS) << "by address, whatever the context";
  EXPECT_EQ(aclrtMemcpy(second, 64, first, 64, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
  char last = 0;
  EXPECT_EQ(aclrtMemcpy(&last, 1, static_cast<char*>(second) + 63, 1, ACL_MEMCPY_DEVICE_TO_HOST),
            ACL_SUCCESS);
  EXPECT_EQ(last, 5);
  EXPECT_EQ(aclrtMemsetAsync(first, 64, 5, 64, nullptr), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemcpyAsync(second, 64, first, 64, ACL_MEMCPY_DEFAULT, nullptr),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtStreamWaitEvent(nullptr, event), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
}

}  // namespace
}  // namespace opserve::acl_test
