// The runtime: devices, contexts, streams, events and memory.
//
// Every function may be called from any thread, between aclInit and aclFinalize (100001 otherwise),
// and returns 0 or an error code; aclGetRecentErrMsg then says more. What needs a context takes the
// calling thread's current one: 107002 when it has none. A null out-parameter is 100000, a handle
// that was destroyed or never made 107017. A lost device is 507015 in all that reaches it.
#ifndef OPSERVE_ACL_ACL_RT_H_
#define OPSERVE_ACL_ACL_RT_H_

// C, and CANN's names.
// NOLINTBEGIN(modernize-*,readability-identifier-naming)

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------- devices

// Where this program runs.
typedef enum aclrtRunMode OPSERVE_ACL_ENUM_BASE { ACL_DEVICE = 0, ACL_HOST = 1 } aclrtRunMode;

// Makes the device's default context, with its default stream, the thread's current one. The first
// call for a device makes them; each call counts, whatever the thread. 107001: no such device.
aclError aclrtSetDevice(int32_t device_id);

// Undoes one aclrtSetDevice. The last one destroys the default context; memory stays until
// aclrtFree or aclFinalize. 107001: no such device, or not set.
aclError aclrtResetDevice(int32_t device_id);

// The device of the current context.
aclError aclrtGetDevice(int32_t* device_id);

aclError aclrtGetDeviceCount(uint32_t* count);

// Always ACL_HOST.
aclError aclrtGetRunMode(aclrtRunMode* run_mode);

// --------------------------------------------------------------------------------------- contexts

// Makes a context and makes it the thread's current one. 107001: no such device.
aclError aclrtCreateContext(aclrtContext* context, int32_t device_id);

// Waits for the work on its streams, then destroys them and its events. Threads whose current one
// it was have none then. 107000: a default context, which aclrtResetDevice destroys.
aclError aclrtDestroyContext(aclrtContext context);

// 100000: null.
aclError aclrtSetCurrentContext(aclrtContext context);

// 107002: none.
aclError aclrtGetCurrentContext(aclrtContext* context);

// ---------------------------------------------------------------------------------------- streams
//
// Work on a stream runs in order, beside other streams; a failure does not stop what comes behind
// it. A null stream is the current context's default one. A stream of another context than the
// current one is 107003.

typedef enum aclrtStreamStatus OPSERVE_ACL_ENUM_BASE {
  ACL_STREAM_STATUS_COMPLETE = 0,
  ACL_STREAM_STATUS_NOT_READY = 1,
  ACL_STREAM_STATUS_RESERVED = 0xFFFF
} aclrtStreamStatus;

// Of the current context.
aclError aclrtCreateStream(aclrtStream* stream);

// Neither the priority nor the flag changes anything here.
aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag);

// Waits for its work. 107000: a default stream.
aclError aclrtDestroyStream(aclrtStream stream);

// Waits until all that is on the stream now has ended. 507015 when some of it failed since the last
// synchronization, with the first failure as the message: 207001 where memory was missing.
aclError aclrtSynchronizeStream(aclrtStream stream);

// The same for at most `timeout_ms` milliseconds, then 507046; the stream goes on and keeps its
// failure for the next synchronization. -1 waits for ever; any other negative number is 107000.
aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout_ms);

// Whether nothing runs and nothing waits.
aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status);

// Waits for all streams of the current context; as aclrtSynchronizeStream otherwise.
aclError aclrtSynchronizeDevice(void);

// ----------------------------------------------------------------------------------------- events

typedef enum aclrtEventRecordedStatus OPSERVE_ACL_ENUM_BASE {
  ACL_EVENT_RECORDED_STATUS_NOT_READY = 0,
  ACL_EVENT_RECORDED_STATUS_COMPLETE = 1
} aclrtEventRecordedStatus;

static const uint32_t ACL_EVENT_SYNC = 0x1u;
static const uint32_t ACL_EVENT_TIME_LINE = 0x8u;

// For waiting and for measuring time. Of the current context.
aclError aclrtCreateEvent(aclrtEvent* event);

// `flag`: ACL_EVENT_SYNC, ACL_EVENT_TIME_LINE or both (100000 otherwise). Only an event with
// ACL_EVENT_TIME_LINE measures time.
aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag);

aclError aclrtDestroyEvent(aclrtEvent event);

// The event is reached when all that is on the stream now has ended. May be done again: what waits
// goes by the latest recording. 107000: an event of another device.
aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream);

// Waits until the latest recording is reached. 107000: never recorded. 507047: a time-out.
aclError aclrtSynchronizeEvent(aclrtEvent event);

// Whether the latest recording was reached; NOT_READY for an event that was never recorded.
aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status);

// What comes later on the stream waits for the event's latest recording. 107000: never recorded, or
// an event of another device.
aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event);

// Milliseconds from the point of `start` to that of `end`. 107000: one of them was not recorded,
// not reached yet, or does not measure time.
aclError aclrtEventElapsedTime(float* ms, aclrtEvent start, aclrtEvent end);

// ----------------------------------------------------------------------------------------- memory
//
// Sizes are in bytes. Addresses of a device are for the functions of this interface alone: what
// they point to must not be read or written by the program.

typedef enum aclrtMemMallocPolicy OPSERVE_ACL_ENUM_BASE {
  ACL_MEM_MALLOC_HUGE_FIRST = 0,
  ACL_MEM_MALLOC_HUGE_ONLY = 1,
  ACL_MEM_MALLOC_NORMAL_ONLY = 2
} aclrtMemMallocPolicy;

typedef enum aclrtMemcpyKind OPSERVE_ACL_ENUM_BASE {
  ACL_MEMCPY_HOST_TO_HOST = 0,
  ACL_MEMCPY_HOST_TO_DEVICE = 1,
  ACL_MEMCPY_DEVICE_TO_HOST = 2,
  ACL_MEMCPY_DEVICE_TO_DEVICE = 3,
  ACL_MEMCPY_DEFAULT = 4  // by the addresses
} aclrtMemcpyKind;

typedef enum aclrtMemAttr OPSERVE_ACL_ENUM_BASE { ACL_DDR_MEM = 0, ACL_HBM_MEM = 1 } aclrtMemAttr;

// Memory of the current context's device, for all of its contexts: 64-byte aligned, contents
// undefined. 100000: size 0, or no such policy; 207001: there is not as much.
aclError aclrtMalloc(void** dev_ptr, size_t size, aclrtMemMallocPolicy policy);

// Work that uses the memory ends well. 107000: not the start of an allocation of aclrtMalloc; null
// is 100000. Needs no context.
aclError aclrtFree(void* dev_ptr);

// Memory of the host that transfers may use, 64-byte aligned, contents undefined. 100000: size 0;
// 200000: there is not as much.
aclError aclrtMallocHost(void** host_ptr, size_t size);

// As aclrtFree, for aclrtMallocHost.
aclError aclrtFreeHost(void* host_ptr);

// Copies `count` bytes and returns when that has happened; waits for no stream. 0 bytes succeed,
// whatever the addresses are. 100000: a null address, or no such kind; 107000: count > dest_max, an
// address that is not on the kind's side, a range that leaves its allocation, or ranges of one
// device that overlap.
aclError aclrtMemcpy(void* dst, size_t dest_max, const void* src, size_t count,
                     aclrtMemcpyKind kind);

// The same in the stream's turn: host memory must stay as it is until the stream was synchronized.
// 107000 also where both sides are the host's.
aclError aclrtMemcpyAsync(void* dst, size_t dest_max, const void* src, size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream);

// Sets `count` bytes of device or host memory to the low byte of `value`; errors as aclrtMemcpy.
aclError aclrtMemset(void* dev_ptr, size_t max_count, int32_t value, size_t count);

// The same in the stream's turn, for memory of the device.
aclError aclrtMemsetAsync(void* dev_ptr, size_t max_count, int32_t value, size_t count,
                          aclrtStream stream);

// Of the current context's device. Both attributes mean the same memory here.
aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total);

#ifdef __cplusplus
}
#endif

// NOLINTEND(modernize-*,readability-identifier-naming)

#endif  // OPSERVE_ACL_ACL_RT_H_
