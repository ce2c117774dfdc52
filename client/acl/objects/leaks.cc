#include "client/acl/objects/leaks.h"

#include <cinttypes>
#include <cstdio>

#include "client/acl/objects/objects.h"
#include "client/acl/objects/runtime.h"

namespace opserve::acl {
namespace {

struct KindName {
  opserveAclKind kind;
  const char* name;
};

constexpr KindName kKinds[] = {
    {OPSERVE_ACL_TENSORS, "tensors"},
    {OPSERVE_ACL_SCALARS, "scalars"},
    {OPSERVE_ACL_INT_ARRAYS, "int arrays"},
    {OPSERVE_ACL_FLOAT_ARRAYS, "float arrays"},
    {OPSERVE_ACL_BOOL_ARRAYS, "bool arrays"},
    {OPSERVE_ACL_EXECUTORS, "executors"},
    {OPSERVE_ACL_CONTEXTS, "contexts"},
    {OPSERVE_ACL_STREAMS, "streams"},
    {OPSERVE_ACL_EVENTS, "events"},
    {OPSERVE_ACL_DEVICE_MEMORY, "allocations of device memory"},
    {OPSERVE_ACL_HOST_MEMORY, "allocations of host memory"},
};

int64_t CountInRuntime(opserveAclKind kind, const Runtime& runtime) {
  switch (kind) {
    case OPSERVE_ACL_EXECUTORS:
      return runtime.executors.size();
    case OPSERVE_ACL_CONTEXTS:
      return runtime.CountContexts();
    case OPSERVE_ACL_STREAMS:
      return runtime.CountStreams();
    case OPSERVE_ACL_EVENTS:
      return runtime.events.size();
    case OPSERVE_ACL_DEVICE_MEMORY:
      return runtime.device_memory.size();
    default:
      return runtime.host_memory.size();
  }
}

}  // namespace

std::optional<int64_t> CountLive(opserveAclKind kind, const Runtime* runtime) {
  const ObjectTables& objects = Objects();
  if (kind < OPSERVE_ACL_TENSORS || kind > OPSERVE_ACL_HOST_MEMORY) return std::nullopt;
  switch (kind) {
    case OPSERVE_ACL_TENSORS:
      return objects.tensors.size();
    case OPSERVE_ACL_SCALARS:
      return objects.scalars.size();
    case OPSERVE_ACL_INT_ARRAYS:
      return objects.int_arrays.size();
    case OPSERVE_ACL_FLOAT_ARRAYS:
      return objects.float_arrays.size();
    case OPSERVE_ACL_BOOL_ARRAYS:
      return objects.bool_arrays.size();
    default:
      return runtime == nullptr ? 0 : CountInRuntime(kind, *runtime);
  }
}

void ReportLeaks(const Runtime& runtime) {
  int64_t all = 0;
  for (const KindName& kind : kKinds) {
    const int64_t live = CountLive(kind.kind, &runtime).value_or(0);
    all += live;
    if (live > 0) {
      std::fprintf(stderr, "opserve_acl: aclFinalize: %" PRId64 " %s not destroyed\n", live,
                   kind.name);
    }
  }
  if (all == 0) std::fprintf(stderr, "opserve_acl: aclFinalize: everything was destroyed\n");
}

}  // namespace opserve::acl
