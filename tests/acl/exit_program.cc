// Calls functions when the main thread's own objects are gone: from the destructor of a static one.
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "acl/acl.h"

namespace {

void Want(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "want %s\n", what);
  _exit(1);
}

struct AtExit {
  ~AtExit() {
    Want(aclrtGetDevice(nullptr) == ACL_ERROR_INVALID_PARAM, "100000 at the end, too");
    Want(std::strcmp(aclGetRecentErrMsg(), "") == 0, "no message at the end");
    Want(aclrtGetSocName() == nullptr, "no name at the end");
    Want(aclFinalize() == ACL_SUCCESS, "aclFinalize at the end");
  }
};

AtExit at_exit;

}  // namespace

int main() {
  Want(aclInit(nullptr) == ACL_SUCCESS, "aclInit");
  Want(aclrtGetSocName() != nullptr, "a name");
  Want(aclrtGetDevice(nullptr) == ACL_ERROR_INVALID_PARAM, "100000");
  Want(std::strlen(aclGetRecentErrMsg()) > 0, "a message");
  Want(aclrtGetDevice(nullptr) == ACL_ERROR_INVALID_PARAM, "100000 again");
  return 0;
}
