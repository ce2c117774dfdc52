#include "core/backends/ascend/memory.h"

#include <cstring>

#include "core/base/status_macros.h"

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

absl::Status DeviceMemory::Clear(std::byte* data, size_t bytes) {
  OPSERVE_RETURN_IF_ERROR(npu_.Enter());
  return npu_.Check(npu_.acl().memset(data, bytes, 0, bytes), "aclrtMemset");
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

absl::Status PinnedMemory::Clear(std::byte* data, size_t bytes) {
  std::memset(data, 0, bytes);
  return absl::OkStatus();
}

}  // namespace opserve::ascend
