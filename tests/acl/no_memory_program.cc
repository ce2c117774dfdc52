// Calls functions where the host has no memory: each is an error, and nothing is thrown.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "acl/acl.h"
#include "acl/opserve_acl.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_relu.h"

static bool has_memory = true;

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return has_memory ? std::malloc(size) : nullptr;
}
void* operator new(std::size_t size) {
  void* memory = operator new(size, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

int wrongs = 0;

void Want(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "want %s\n", what);
  ++wrongs;
}

}  // namespace

int main() {
  uint64_t workspace = 0;
  aclOpExecutor* executor = nullptr;
  Want(aclrtGetDevice(nullptr) == ACL_ERROR_INVALID_PARAM, "100000");
  has_memory = false;
  const aclError failed = aclrtGetDevice(nullptr);
  const aclError uninitialized = aclrtSynchronizeDevice();
  const char* name = aclrtGetSocName();
  const int64_t live = opserveAclCountLive(OPSERVE_ACL_TENSORS);
  const aclTensor* tensor =
      aclCreateTensor(nullptr, 0, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, nullptr);
  const aclnnStatus planned = aclnnReluGetWorkspaceSize(nullptr, nullptr, &workspace, &executor);
  has_memory = true;
  Want(failed == ACL_ERROR_BAD_ALLOC, "200000 of aclrtGetDevice");
  Want(uninitialized == ACL_ERROR_BAD_ALLOC, "200000 of aclrtSynchronizeDevice");
  Want(name == nullptr, "no name");
  Want(live == -1, "no count");
  Want(tensor == nullptr, "no tensor");
  Want(planned == ACLNN_ERR_RUNTIME_ERROR, "361001 of aclnnReluGetWorkspaceSize");
  Want(std::strstr(aclGetRecentErrMsg(), "device_id: want") != nullptr, "the message as it was");
  return wrongs == 0 ? 0 : 1;
}
