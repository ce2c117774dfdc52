// What the samples in C++ share: device tensors, the two phases, and a comparison with what is
// expected. C++11 is enough.
#ifndef OPSERVE_ACL_SAMPLE_H_
#define OPSERVE_ACL_SAMPLE_H_

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"

// Ends the program when a call fails, with what it has to say.
inline void Check(int status, const char* call) {
  if (status == ACL_SUCCESS) return;
  std::fprintf(stderr, "%s: error %d: %s\n", call, status, aclGetRecentErrMsg());
  std::exit(1);
}
#define CHECK_OK(call) Check(call, #call)

// A device, a context and a stream for the whole program.
class Device {
 public:
  Device() {
    CHECK_OK(aclInit(nullptr));
    CHECK_OK(aclrtSetDevice(0));
    CHECK_OK(aclrtCreateStream(&stream_));
  }
  ~Device() {
    CHECK_OK(aclrtDestroyStream(stream_));
    CHECK_OK(aclrtResetDevice(0));
    CHECK_OK(aclFinalize());
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // Phase two with a workspace of its own, to its end.
  void Run(aclnnStatus (*phase_two)(void*, uint64_t, aclOpExecutor*, aclrtStream), uint64_t size,
           aclOpExecutor* executor) {
    void* workspace = nullptr;
    if (size > 0) CHECK_OK(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(phase_two(workspace, size, executor, stream_));
    CHECK_OK(aclrtSynchronizeStream(stream_));
    if (size > 0) CHECK_OK(aclrtFree(workspace));
  }

 private:
  aclrtStream stream_ = nullptr;
};

// A dense tensor on the device.
template <typename T>
class Tensor {
 public:
  Tensor(aclDataType type, const std::vector<int64_t>& shape, const std::vector<T>& values)
      : size_(values.size()) {
    const size_t bytes = size_ * sizeof(T);
    CHECK_OK(aclrtMalloc(&data_, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMemcpy(data_, bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    tensor_ = aclCreateTensor(shape.data(), shape.size(), type, nullptr, 0, ACL_FORMAT_ND,
                              shape.data(), shape.size(), data_);
  }
  ~Tensor() {
    CHECK_OK(aclDestroyTensor(tensor_));
    CHECK_OK(aclrtFree(data_));
  }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  aclTensor* get() const { return tensor_; }

  std::vector<T> Read() const {
    std::vector<T> values(size_);
    const size_t bytes = size_ * sizeof(T);
    CHECK_OK(aclrtMemcpy(values.data(), bytes, data_, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    return values;
  }

 private:
  const size_t size_;
  void* data_ = nullptr;
  aclTensor* tensor_ = nullptr;
};

struct FloatTensor : Tensor<float> {
  FloatTensor(const std::vector<int64_t>& shape, const std::vector<float>& values)
      : Tensor(ACL_FLOAT, shape, values) {}
};

// Prints a result; ends the program when it is not what is expected.
inline void Expect(const char* name, const std::vector<float>& got,
                   const std::vector<float>& expected) {
  std::printf("%s", name);
  for (const float value : got) std::printf(" %.3f", static_cast<double>(value));
  std::printf("\n");
  bool same = got.size() == expected.size();
  for (size_t i = 0; same && i < got.size(); ++i) same = std::fabs(got[i] - expected[i]) < 1e-3f;
  if (same) return;
  std::fprintf(stderr, "%s: not what is expected\n", name);
  std::exit(1);
}

#endif  // OPSERVE_ACL_SAMPLE_H_
