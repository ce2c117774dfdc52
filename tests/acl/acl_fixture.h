// What the tests of the C interface share. They see what programs see: the headers and the library.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "acl/opserve_acl.h"
#include "aclnn/acl_meta.h"
#include "gtest/gtest.h"

namespace opserve::acl_test {

// Environment variables, for as long as it lives.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~Environment() { ::unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* const name_;
};

// How many objects of any kind live.
inline int64_t CountLiveOfAllKinds() {
  int64_t live = 0;
  for (int kind = OPSERVE_ACL_TENSORS; kind <= OPSERVE_ACL_HOST_MEMORY; ++kind)
    live += opserveAclCountLive(static_cast<opserveAclKind>(kind));
  return live;
}

// An initialized library, and device 0 with its default context; nothing may be left at the end.
class AclTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS) << aclGetRecentErrMsg();
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(opserveAclSetFaults(nullptr), ACL_SUCCESS);
    EXPECT_EQ(CountLiveOfAllKinds(), 0);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  }
};

// A handle that is none: what it points to does not matter.
template <typename Handle>
Handle* Foreign() {
  static int64_t somewhere = 0;
  return reinterpret_cast<Handle*>(&somewhere);
}

// Device memory with a tensor on it.
template <typename T>
class DeviceTensor {
 public:
  DeviceTensor(aclDataType data_type, std::vector<int64_t> shape, const std::vector<T>& values)
      : shape_(std::move(shape)), size_(values.size()) {
    if (size_ > 0) {
      EXPECT_EQ(aclrtMalloc(&data_, bytes(), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
      EXPECT_EQ(aclrtMemcpy(data_, bytes(), values.data(), bytes(), ACL_MEMCPY_HOST_TO_DEVICE), 0);
    }
    tensor_ = aclCreateTensor(shape_.data(), shape_.size(), data_type, nullptr, 0, ACL_FORMAT_ND,
                              shape_.data(), shape_.size(), data_);
  }
  ~DeviceTensor() {
    EXPECT_EQ(aclDestroyTensor(tensor_), ACLNN_SUCCESS);
    if (data_ != nullptr) {
      EXPECT_EQ(aclrtFree(data_), ACL_SUCCESS);
    }
  }
  DeviceTensor(const DeviceTensor&) = delete;
  DeviceTensor& operator=(const DeviceTensor&) = delete;

  aclTensor* get() const { return tensor_; }
  void* data() const { return data_; }
  size_t bytes() const { return size_ * sizeof(T); }

  std::vector<T> Read() const {
    std::vector<T> values(size_);
    EXPECT_EQ(aclrtMemcpy(values.data(), bytes(), data_, bytes(), ACL_MEMCPY_DEVICE_TO_HOST), 0);
    return values;
  }

 private:
  const std::vector<int64_t> shape_;
  const size_t size_;
  void* data_ = nullptr;
  aclTensor* tensor_ = nullptr;
};

struct FloatTensor : DeviceTensor<float> {
  FloatTensor(std::vector<int64_t> shape, const std::vector<float>& values)
      : DeviceTensor(ACL_FLOAT, std::move(shape), values) {}
};

// Workspace for a plan; none for 0 bytes.
class Workspace {
 public:
  explicit Workspace(uint64_t bytes) {
    if (bytes > 0) {
      EXPECT_EQ(aclrtMalloc(&data_, bytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    }
  }
  ~Workspace() {
    if (data_ != nullptr) {
      EXPECT_EQ(aclrtFree(data_), ACL_SUCCESS);
    }
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

// Phase one's results.
struct Planned {
  uint64_t workspace_size = 0;
  aclOpExecutor* executor = nullptr;
};

using PhaseTwo = aclnnStatus (*)(void*, uint64_t, aclOpExecutor*, aclrtStream);

// Phase two on the default stream, and the end of it.
inline aclError RunToEnd(PhaseTwo phase_two, const Planned& planned) {
  const Workspace workspace(planned.workspace_size);
  const aclnnStatus status =
      phase_two(workspace.data(), planned.workspace_size, planned.executor, nullptr);
  EXPECT_EQ(status, ACLNN_SUCCESS) << aclGetRecentErrMsg();
  return aclrtSynchronizeStream(nullptr);
}

}  // namespace opserve::acl_test
