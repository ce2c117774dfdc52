// A program whose server says that all has ended, and sends what was to be downloaded only when it
// is asked for its memory.
#include <cstdio>
#include <cstring>
#include <vector>

#include "acl/acl.h"

namespace {

const size_t kBytes = 8;
int wrongs = 0;

void Want(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "want %s, not: %s\n", what, aclGetRecentErrMsg());
  ++wrongs;
}

void Send() {
  size_t free = 0;
  size_t total = 0;
  Want(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total) == ACL_SUCCESS, "aclrtGetMemInfo");
}

}  // namespace

int main() {
  void* memory = nullptr;
  aclrtStream stream = nullptr;
  aclrtStream other = nullptr;
  aclrtEvent event = nullptr;
  aclrtEventRecordedStatus recorded = ACL_EVENT_RECORDED_STATUS_COMPLETE;
  aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
  Want(aclInit(nullptr) == ACL_SUCCESS && aclrtSetDevice(0) == ACL_SUCCESS, "a device");
  Want(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS, "memory");
  Want(aclrtCreateStream(&stream) == ACL_SUCCESS && aclrtCreateStream(&other) == ACL_SUCCESS,
       "streams");
  Want(aclrtCreateEvent(&event) == ACL_SUCCESS, "an event");
  {
    std::vector<char> host(kBytes);
    Want(aclrtMemcpyAsync(host.data(), kBytes, memory, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream) ==
             ACL_SUCCESS,
         "a download");
    Want(aclrtRecordEvent(event, stream) == ACL_SUCCESS, "a recording");
    Want(aclrtStreamWaitEvent(other, event) == ACL_SUCCESS, "a wait");
    Want(aclrtSynchronizeStreamWithTimeout(stream, 10) == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
         "no end of the stream");
    Want(aclrtSynchronizeStreamWithTimeout(other, 10) == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
         "no end of the stream that waits");
    Want(aclrtStreamQuery(stream, &status) == ACL_SUCCESS && status == ACL_STREAM_STATUS_NOT_READY,
         "a stream that is not ready");
    Want(aclrtQueryEventStatus(event, &recorded) == ACL_SUCCESS &&
             recorded == ACL_EVENT_RECORDED_STATUS_NOT_READY,
         "an event that was not reached");
    Send();
    Want(aclrtSynchronizeStream(other) == ACL_SUCCESS, "the end of the stream that waits");
    Want(std::strncmp(host.data(), "download", kBytes) == 0, "what was to be downloaded");
    Want(aclrtSynchronizeEvent(event) == ACL_SUCCESS, "an event that was reached");
    Want(aclrtSynchronizeStream(stream) == ACL_SUCCESS, "the end of the stream");
  }
  Send();
  Want(aclFinalize() == ACL_SUCCESS, "aclFinalize");
  return wrongs == 0 ? 0 : 1;
}
