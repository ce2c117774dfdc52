// What the functions of the operators have in common.
//
// An operator is called in two phases. aclnnXGetWorkspaceSize checks everything that needs no data,
// on the current context's device, and makes an executor, the planned call; it has no other effect.
// aclnnX puts the call on a stream: 0 means that it is there, and the result is ready when the
// stream, or an event on it, was synchronized. The phases may run on different threads.
//
// Errors of phase one, in this order: 161001 for a null out-parameter, tensor, scalar or array;
// 161002 for all else that is wrong with an argument; 361001 where the runtime is at fault, such as
// a thread without a current context; 561103 for a defect of the library. aclGetRecentErrMsg names
// the operator, the parameter, what was wanted and what came. Tensors may be views of any layout;
// those of outputs must not overlap themselves, an input or each other.
//
// Errors of phase two: 161001 for a null executor, or a null workspace where phase one asked for
// bytes; 161002 for an executor that was consumed, is another operator's or another context's, and
// for a workspace that is too small, not 64-byte aligned, or no memory of the device; 361001 for a
// stream that is gone or another context's. A null stream is the current context's default one. The
// executor is consumed, whatever phase two returns, unless it was made repeatable.
#ifndef OPSERVE_ACL_ACLNN_BASE_H_
#define OPSERVE_ACL_ACLNN_BASE_H_

// C, and CANN's names.
// NOLINTBEGIN(modernize-*,readability-identifier-naming)

#include <stdbool.h>
#include <stdint.h>

#include "acl/acl_base.h"

typedef int32_t aclnnStatus;

static const int ACLNN_SUCCESS = 0;
static const int ACLNN_ERR_PARAM_NULLPTR = 161001;
static const int ACLNN_ERR_PARAM_INVALID = 161002;
static const int ACLNN_ERR_RUNTIME_ERROR = 361001;
static const int ACLNN_ERR_INNER = 561103;

typedef struct aclTensor aclTensor;
typedef struct aclScalar aclScalar;
typedef struct aclIntArray aclIntArray;
typedef struct aclFloatArray aclFloatArray;
typedef struct aclBoolArray aclBoolArray;
typedef struct aclOpExecutor aclOpExecutor;

// NOLINTEND(modernize-*,readability-identifier-naming)

#endif  // OPSERVE_ACL_ACLNN_BASE_H_
