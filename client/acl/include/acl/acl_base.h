// Types, constants and status codes of the C interface. Plain C99 and C++11.
//
// Handles (contexts, streams, events, tensors, executors, …) are numbers, not addresses: one that
// was destroyed, or never made, is an error code of whatever function gets it.
#ifndef OPSERVE_ACL_ACL_BASE_H_
#define OPSERVE_ACL_ACL_BASE_H_

// C, and CANN's names.
// NOLINTBEGIN(modernize-*,readability-identifier-naming)

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// So that any number may come, as in C.
#ifdef __cplusplus
#define OPSERVE_ACL_ENUM_BASE : int32_t
#else
#define OPSERVE_ACL_ENUM_BASE
#endif

// What the functions of the runtime return. The first digit says whose fault it is: 1 the caller's,
// 2 a resource's, 5 the library's or the device's.
typedef int aclError;

static const int ACL_SUCCESS = 0;
static const int ACL_ERROR_NONE = 0;
// A null pointer, or an enumerator that is none.
static const int ACL_ERROR_INVALID_PARAM = 100000;
// aclInit was not called, or aclFinalize was.
static const int ACL_ERROR_UNINITIALIZE = 100001;
// aclInit was called before; the call counts.
static const int ACL_ERROR_REPEAT_INITIALIZE = 100002;
static const int ACL_ERROR_UNSUPPORTED_DATA_TYPE = 100026;
// aclFinalize was called as often as aclInit.
static const int ACL_ERROR_REPEAT_FINALIZE = 100037;
// A number or an address that does not go with the other arguments.
static const int ACL_ERROR_RT_PARAM_INVALID = 107000;
// No such device, or one that is not set.
static const int ACL_ERROR_RT_INVALID_DEVICEID = 107001;
// The calling thread has no current context.
static const int ACL_ERROR_RT_CONTEXT_NULL = 107002;
// The stream belongs to another context than the thread's current one.
static const int ACL_ERROR_RT_STREAM_CONTEXT = 107003;
// A handle that was destroyed, never made, or of another kind.
static const int ACL_ERROR_RT_INVALID_HANDLE = 107017;
// The host has no memory.
static const int ACL_ERROR_BAD_ALLOC = 200000;
// What was asked for is not there: the library of remote devices, an operator of the profile.
static const int ACL_ERROR_API_NOT_SUPPORT = 200001;
static const int ACL_ERROR_INVALID_DEVICE = 200002;
// The device has no memory left.
static const int ACL_ERROR_RT_MEMORY_ALLOCATION = 207001;
static const int ACL_ERROR_RT_DEVICE_OOM = 207018;
// A defect of the library.
static const int ACL_ERROR_INTERNAL_ERROR = 500000;
// Work on a stream failed; aclGetRecentErrMsg says which. Also: the device is lost.
static const int ACL_ERROR_RT_AICORE_EXCEPTION = 507015;
// The stream, or the event, was not ready in time.
static const int ACL_ERROR_RT_STREAM_SYNC_TIMEOUT = 507046;
static const int ACL_ERROR_RT_EVENT_SYNC_TIMEOUT = 507047;

// Types of elements.
typedef enum aclDataType OPSERVE_ACL_ENUM_BASE {
  ACL_DT_UNDEFINED = -1,
  ACL_FLOAT = 0,
  ACL_FLOAT16 = 1,
  ACL_INT8 = 2,
  ACL_INT32 = 3,
  ACL_UINT8 = 4,
  ACL_INT16 = 6,
  ACL_UINT16 = 7,
  ACL_UINT32 = 8,
  ACL_INT64 = 9,
  ACL_UINT64 = 10,
  ACL_DOUBLE = 11,
  ACL_BOOL = 12,
  ACL_BF16 = 27
} aclDataType;

// What the dimensions of a tensor mean. The operators here work on shapes and strides alone, so all
// of these are treated alike.
typedef enum aclFormat OPSERVE_ACL_ENUM_BASE {
  ACL_FORMAT_UNDEFINED = -1,
  ACL_FORMAT_NCHW = 0,
  ACL_FORMAT_NHWC = 1,
  ACL_FORMAT_ND = 2,
  ACL_FORMAT_NCDHW = 30,
  ACL_FORMAT_NCL = 47
} aclFormat;

typedef void* aclrtContext;
typedef void* aclrtStream;
typedef void* aclrtEvent;

#ifdef __cplusplus
}
#endif

// NOLINTEND(modernize-*,readability-identifier-naming)

#endif  // OPSERVE_ACL_ACL_BASE_H_
