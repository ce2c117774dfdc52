// The whole runtime, and how it begins and ends. docs/acl.md says how a program is built with it.
#ifndef OPSERVE_ACL_ACL_H_
#define OPSERVE_ACL_ACL_H_

// C, and CANN's names.
// NOLINTBEGIN(modernize-*,readability-identifier-naming)

#include "acl/acl_base.h"
#include "acl/acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

// Opens the devices, as the environment says (docs/acl.md). `config_path` may be null and is not
// read. A further call counts and returns 100002. 100000: an environment variable that makes no
// sense; 200001: the library of remote devices is not there; 500000: the devices cannot be opened.
aclError aclInit(const char* config_path);

// Undoes one aclInit (100002 counts, too). The last one waits for the work on all streams and
// destroys contexts, streams, events, executors and memory; tensors, scalars and arrays stay.
// 100037: one too many.
aclError aclFinalize(void);

// What the calling thread's last failed call had to say, and forgets it: "" when there is nothing.
// Valid until the thread's next call of this function.
const char* aclGetRecentErrMsg(void);

// The name of what the devices are, "opserve-host" for this machine's cores; null before aclInit.
const char* aclrtGetSocName(void);

#ifdef __cplusplus
}
#endif

// NOLINTEND(modernize-*,readability-identifier-naming)

#endif  // OPSERVE_ACL_ACL_H_
