// What this library has beyond CANN's interface: aids for tests. A program that is to run with
// the vendor's library, too, looks them up with dlsym.
#ifndef OPSERVE_ACL_OPSERVE_ACL_H_
#define OPSERVE_ACL_OPSERVE_ACL_H_

// C, and CANN's names.
// NOLINTBEGIN(modernize-*,readability-identifier-naming)

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum opserveAclKind OPSERVE_ACL_ENUM_BASE {
  OPSERVE_ACL_TENSORS = 0,
  OPSERVE_ACL_SCALARS = 1,
  OPSERVE_ACL_INT_ARRAYS = 2,
  OPSERVE_ACL_FLOAT_ARRAYS = 3,
  OPSERVE_ACL_BOOL_ARRAYS = 4,
  OPSERVE_ACL_EXECUTORS = 5,
  OPSERVE_ACL_CONTEXTS = 6,  // without default ones
  OPSERVE_ACL_STREAMS = 7,   // without default ones
  OPSERVE_ACL_EVENTS = 8,
  OPSERVE_ACL_DEVICE_MEMORY = 9,  // allocations
  OPSERVE_ACL_HOST_MEMORY = 10
} opserveAclKind;

// How many of them live now, made and not destroyed; -1 for no such kind. Also between aclFinalize
// and aclInit, when only tensors, scalars and arrays can.
int64_t opserveAclCountLive(opserveAclKind kind);

// Injects faults from now on, as OPSERVE_ACL_FAULTS does at aclInit (docs/acl.md has the form);
// null or "" ends them all, a lost device comes back. 100000: a text that makes no sense.
aclError opserveAclSetFaults(const char* faults);

#ifdef __cplusplus
}
#endif

// NOLINTEND(modernize-*,readability-identifier-naming)

#endif  // OPSERVE_ACL_OPSERVE_ACL_H_
