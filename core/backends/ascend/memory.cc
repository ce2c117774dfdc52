#include "core/backends/ascend/memory.h"

namespace opserve::ascend {

std::byte* DeviceMemory::Allocate(size_t bytes) {
  void* data = nullptr;
  if (!npu_.Enter().ok()) return nullptr;
  const int32_t code = npu_.acl().malloc(&data, bytes, kAclMallocHugeFirst);
  return npu_.Check(code, "aclrtMalloc").ok() ? static_cast<std::byte*>(data) : nullptr;
}

void DeviceMemory::Free(std::byte* data, size_t /*bytes*/) {
  npu_.EnterToFree();
  npu_.acl().free(data);
}

std::byte* PinnedMemory::Allocate(size_t bytes) {
  void* data = nullptr;
  if (!npu_.Enter().ok()) return nullptr;
  const int32_t code = npu_.acl().malloc_host(&data, bytes);
  return npu_.Check(code, "aclrtMallocHost").ok() ? static_cast<std::byte*>(data) : nullptr;
}

void PinnedMemory::Free(std::byte* data, size_t /*bytes*/) {
  npu_.EnterToFree();
  npu_.acl().free_host(data);
}

}  // namespace opserve::ascend
