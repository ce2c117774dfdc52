// The C functions of memory.
#include <cstring>
#include <span>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "acl/acl_rt.h"
#include "client/acl/objects/faults.h"
#include "client/acl/objects/thread_state.h"
#include "client/acl/objects/transfer.h"
#include "core/base/status_macros.h"

using opserve::acl::CheckGiven;
using opserve::acl::CopySides;
using opserve::acl::EnterContext;
using opserve::acl::EnterDevice;
using opserve::acl::Failure;
using opserve::acl::Fault;
using opserve::acl::Faults;
using opserve::acl::FindCopySides;
using opserve::acl::FindFillSide;
using opserve::acl::FindStream;
using opserve::acl::MemoryState;
using opserve::acl::Runtime;
using opserve::acl::RuntimeCall;
using opserve::acl::Scope;
using opserve::acl::Side;
using opserve::acl::StreamObject;

namespace {

absl::Status CheckSize(size_t size) {
  if (size > 0) return absl::OkStatus();
  return Failure(ACL_ERROR_INVALID_PARAM, "size: want > 0, got 0");
}

absl::Status CheckPolicy(aclrtMemMallocPolicy policy) {
  const int value = policy;
  if (value >= ACL_MEM_MALLOC_HUGE_FIRST && value <= ACL_MEM_MALLOC_NORMAL_ONLY)
    return absl::OkStatus();
  return Failure(ACL_ERROR_INVALID_PARAM,
                 absl::StrCat("policy: want an aclrtMemMallocPolicy, got ", value));
}

absl::Status NotAnAllocation(const char* parameter, const void* address) {
  return Failure(ACL_ERROR_RT_PARAM_INVALID,
                 absl::StrFormat("%s: want the start of an allocation that is not freed, got %p",
                                 parameter, address));
}

// The kinds of transfers that a device and a stream have alike.
template <typename Target>
absl::Status CopyOn(Target& target, const CopySides& sides, size_t count) {
  const auto& [to, from] = sides;
  if (!to.device.has_value()) return target.Download(from.device->view, std::span(to.host, count));
  if (!from.device.has_value())
    return target.Upload(to.device->view, std::span<const std::byte>(from.host, count));
  return target.Copy(from.device->view, to.device->view, static_cast<int64_t>(count));
}

// Between two devices, through the host.
absl::Status CopyAcross(const Runtime& runtime, const CopySides& sides, size_t count) {
  std::vector<std::byte> bytes(count);
  const auto& [to, from] = sides;
  OPSERVE_RETURN_IF_ERROR(runtime.device(from.device->device).Download(from.device->view, bytes));
  return runtime.device(to.device->device).Upload(to.device->view, bytes);
}

absl::Status CopyNow(const Runtime& runtime, const CopySides& sides, size_t count) {
  const auto& [to, from] = sides;
  if (!to.device.has_value() && !from.device.has_value()) {
    std::memmove(to.host, from.host, count);
    return absl::OkStatus();
  }
  if (to.device.has_value() && from.device.has_value() && to.device->device != from.device->device)
    return CopyAcross(runtime, sides, count);
  const int device = to.device.has_value() ? to.device->device : from.device->device;
  return CopyOn(runtime.device(device), sides, count);
}

absl::Status CheckOnDevice(const Side& side, int device, const char* parameter) {
  if (!side.device.has_value() || side.device->device == device) return absl::OkStatus();
  return Failure(ACL_ERROR_RT_PARAM_INVALID,
                 absl::StrCat(parameter, ": want memory of the stream's device, ", device,
                              ", got memory of device ", side.device->device));
}

absl::Status CopyLater(const CopySides& sides, size_t count, StreamObject& stream) {
  if (!sides.to.device.has_value() && !sides.from.device.has_value()) {
    return Failure(ACL_ERROR_RT_PARAM_INVALID,
                   "dst: want device memory on one side at least, got host memory on both");
  }
  OPSERVE_RETURN_IF_ERROR(CheckOnDevice(sides.to, stream.device, "dst"));
  OPSERVE_RETURN_IF_ERROR(CheckOnDevice(sides.from, stream.device, "src"));
  return CopyOn(*stream.stream, sides, count);
}

std::byte LowByte(int32_t value) { return static_cast<std::byte>(value & 0xFF); }

}  // namespace

aclError aclrtMalloc(void** dev_ptr, size_t size, aclrtMemMallocPolicy policy) {
  return RuntimeCall([&]() -> absl::Status {
    OPSERVE_RETURN_IF_ERROR(CheckGiven(dev_ptr, "dev_ptr"));
    OPSERVE_ASSIGN_OR_RETURN(const Scope scope, EnterDevice());
    OPSERVE_RETURN_IF_ERROR(CheckSize(size));
    OPSERVE_RETURN_IF_ERROR(CheckPolicy(policy));
    OPSERVE_RETURN_IF_ERROR(Faults::Get().Check(Fault::kMalloc));
    const auto bytes = static_cast<int64_t>(size);
    if (bytes < 0) {
      return Failure(ACL_ERROR_RT_MEMORY_ALLOCATION,
                     absl::StrCat("size: want less than 2^63, got ", size));
    }
    OPSERVE_ASSIGN_OR_RETURN(auto memory, scope.device().Allocate(bytes));
    *dev_ptr = memory->address();
    scope.runtime->device_memory.Add(std::move(memory), scope.context->device);
    return absl::OkStatus();
  });
}

aclError aclrtFree(void* dev_ptr) {
  return RuntimeCall([&]() -> absl::Status {
    OPSERVE_ASSIGN_OR_RETURN(const std::shared_ptr<Runtime> runtime, Runtime::Get());
    OPSERVE_RETURN_IF_ERROR(CheckGiven(dev_ptr, "dev_ptr"));
    if (runtime->device_memory.Remove(dev_ptr)) return absl::OkStatus();
    return NotAnAllocation("dev_ptr", dev_ptr);
  });
}

aclError aclrtMallocHost(void** host_ptr, size_t size) {
  return RuntimeCall([&]() -> absl::Status {
    OPSERVE_RETURN_IF_ERROR(CheckGiven(host_ptr, "host_ptr"));
    OPSERVE_ASSIGN_OR_RETURN(const Scope scope, EnterContext());
    OPSERVE_RETURN_IF_ERROR(CheckSize(size));
    void* memory = scope.runtime->host_memory.Allocate(size);
    if (memory == nullptr)
      return Failure(ACL_ERROR_BAD_ALLOC, absl::StrCat("the host has no ", size, " bytes"));
    *host_ptr = memory;
    return absl::OkStatus();
  });
}

aclError aclrtFreeHost(void* host_ptr) {
  return RuntimeCall([&]() -> absl::Status {
    OPSERVE_ASSIGN_OR_RETURN(const std::shared_ptr<Runtime> runtime, Runtime::Get());
    OPSERVE_RETURN_IF_ERROR(CheckGiven(host_ptr, "host_ptr"));
    if (runtime->host_memory.Free(host_ptr)) return absl::OkStatus();
    return NotAnAllocation("host_ptr", host_ptr);
  });
}

aclError aclrtMemcpy(void* dst, size_t dest_max, const void* src, size_t count,
                     aclrtMemcpyKind kind) {
  return RuntimeCall([&]() -> absl::Status {
    OPSERVE_ASSIGN_OR_RETURN(const Scope scope, EnterDevice());
    if (count == 0) return absl::OkStatus();
    OPSERVE_ASSIGN_OR_RETURN(
        const CopySides sides,
        FindCopySides(scope.runtime->device_memory, {dst, dest_max, src, count, kind}));
    OPSERVE_RETURN_IF_ERROR(Faults::Get().Check(Fault::kMemcpy));
    return CopyNow(*scope.runtime, sides, count);
  });
}

aclError aclrtMemcpyAsync(void* dst, size_t dest_max, const void* src, size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream) {
  return RuntimeCall([&]() -> absl::Status {
    OPSERVE_ASSIGN_OR_RETURN(const Scope scope, EnterDevice());
    OPSERVE_ASSIGN_OR_RETURN(const auto found, FindStream(scope, stream));
    if (count == 0) return absl::OkStatus();
    OPSERVE_ASSIGN_OR_RETURN(
        const CopySides sides,
        FindCopySides(scope.runtime->device_memory, {dst, dest_max, src, count, kind}));
    OPSERVE_RETURN_IF_ERROR(Faults::Get().Check(Fault::kMemcpy));
    return CopyLater(sides, count, *found);
  });
}

aclError aclrtMemset(void* dev_ptr, size_t max_count, int32_t value, size_t count) {
  return RuntimeCall([&]() -> absl::Status {
    OPSERVE_ASSIGN_OR_RETURN(const Scope scope, EnterDevice());
    if (count == 0) return absl::OkStatus();
    OPSERVE_ASSIGN_OR_RETURN(const Side side,
                             FindFillSide(scope.runtime->device_memory, scope.runtime->host_memory,
                                          dev_ptr, max_count, count));
    OPSERVE_RETURN_IF_ERROR(Faults::Get().Check(Fault::kMemcpy));
    if (side.device.has_value()) {
      return scope.runtime->device(side.device->device)
          .Fill(side.device->view, LowByte(value), static_cast<int64_t>(count));
    }
    std::memset(side.host, static_cast<int>(LowByte(value)), count);
    return absl::OkStatus();
  });
}

aclError aclrtMemsetAsync(void* dev_ptr, size_t max_count, int32_t value, size_t count,
                          aclrtStream stream) {
  return RuntimeCall([&]() -> absl::Status {
    OPSERVE_ASSIGN_OR_RETURN(const Scope scope, EnterDevice());
    OPSERVE_ASSIGN_OR_RETURN(const auto found, FindStream(scope, stream));
    if (count == 0) return absl::OkStatus();
    OPSERVE_ASSIGN_OR_RETURN(const Side side,
                             FindFillSide(scope.runtime->device_memory, scope.runtime->host_memory,
                                          dev_ptr, max_count, count));
    if (!side.device.has_value())
      return Failure(ACL_ERROR_RT_PARAM_INVALID, "dev_ptr: want device memory, got the host's");
    OPSERVE_RETURN_IF_ERROR(CheckOnDevice(side, found->device, "dev_ptr"));
    OPSERVE_RETURN_IF_ERROR(Faults::Get().Check(Fault::kMemcpy));
    return found->stream->Fill(side.device->view, LowByte(value), static_cast<int64_t>(count));
  });
}

aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total) {
  return RuntimeCall([&]() -> absl::Status {
    OPSERVE_RETURN_IF_ERROR(CheckGiven(free, "free"));
    OPSERVE_RETURN_IF_ERROR(CheckGiven(total, "total"));
    OPSERVE_ASSIGN_OR_RETURN(const Scope scope, EnterDevice());
    if (attr != ACL_DDR_MEM && attr != ACL_HBM_MEM) {
      return Failure(ACL_ERROR_INVALID_PARAM,
                     absl::StrCat("attr: want an aclrtMemAttr, got ", static_cast<int>(attr)));
    }
    OPSERVE_ASSIGN_OR_RETURN(const MemoryState state, scope.device().QueryMemory());
    *free = static_cast<size_t>(state.free_bytes);
    *total = static_cast<size_t>(state.total_bytes);
    return absl::OkStatus();
  });
}
