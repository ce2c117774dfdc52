// The C functions of streams and events.
#include <string>

#include "absl/strings/str_cat.h"
#include "acl/acl_rt.h"
#include "client/acl/objects/faults.h"
#include "client/acl/objects/thread_state.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"

using opserve::acl::CheckGiven;
using opserve::acl::EnterContext;
using opserve::acl::EnterDevice;
using opserve::acl::EventObject;
using opserve::acl::Failure;
using opserve::acl::Fault;
using opserve::acl::Faults;
using opserve::acl::FindEvent;
using opserve::acl::FindStream;
using opserve::acl::Origin;
using opserve::acl::ProvidedStream;
using opserve::acl::Runtime;
using opserve::acl::RuntimeCall;
using opserve::acl::Scope;
using opserve::acl::StreamObject;

namespace {

constexpr int32_t kForEver = -1;

absl::Status TimedOut(aclError code, const char* what) {
  return Failure(code, absl::StrCat(what, ": it was not ready in time"));
}

// What became of the work on a stream, as the stream's error.
absl::Status StreamError(const absl::Status& failure) {
  if (failure.ok()) return failure;
  const bool memory = opserve::acl::RuntimeCode(failure) == ACL_ERROR_RT_MEMORY_ALLOCATION;
  return Failure(memory ? ACL_ERROR_RT_MEMORY_ALLOCATION : ACL_ERROR_RT_AICORE_EXCEPTION,
                 opserve::ToStd(failure.message()));
}

absl::Status Synchronize(StreamObject& stream, int32_t timeout_ms) {
  const absl::Duration timeout =
      timeout_ms == kForEver ? absl::InfiniteDuration() : absl::Milliseconds(timeout_ms);
  const ProvidedStream::Synchronized result = stream.stream->Synchronize(timeout);
  if (!result.in_time) return TimedOut(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "stream");
  opserve::MutexLock lock(stream.mutex);
  const absl::Status injected = std::exchange(stream.injected, absl::OkStatus());
  return result.failure.ok() ? injected : StreamError(result.failure);
}

aclError SynchronizeStream(aclrtStream handle, int32_t timeout_ms) {
  return RuntimeCall([&]() -> absl::Status {
    OPSERVE_ASSIGN_OR_RETURN(const Scope scope, EnterDevice());
    OPSERVE_ASSIGN_OR_RETURN(const auto stream, FindStream(scope, handle));
    if (timeout_ms < kForEver) {
      return Failure(ACL_ERROR_RT_PARAM_INVALID,
                     absl::StrCat("timeout_ms: want >= -1, got ", timeout_ms));
    }
    OPSERVE_RETURN_IF_ERROR(Faults::Get().Check(Fault::kSyncTimeout));
    return Synchronize(*stream, timeout_ms);
  });
}

absl::Status CreateStream(aclrtStream* stream) {
  OPSERVE_RETURN_IF_ERROR(CheckGiven(stream, "stream"));
  OPSERVE_ASSIGN_OR_RETURN(const Scope scope, EnterDevice());
  OPSERVE_ASSIGN_OR_RETURN(*stream, scope.runtime->CreateStream(*scope.context, Origin::kProgram));
  return absl::OkStatus();
}

absl::Status CreateEvent(aclrtEvent* event, uint32_t flag) {
  OPSERVE_RETURN_IF_ERROR(CheckGiven(event, "event"));
  OPSERVE_ASSIGN_OR_RETURN(const Scope scope, EnterDevice());
  if (flag == 0 || (flag & ~(ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE)) != 0) {
    return Failure(
        ACL_ERROR_INVALID_PARAM,
        absl::StrCat("flag: want ACL_EVENT_SYNC, ACL_EVENT_TIME_LINE or both, got ", flag));
  }
  OPSERVE_ASSIGN_OR_RETURN(
      *event, scope.runtime->CreateEvent(*scope.context, (flag & ACL_EVENT_TIME_LINE) != 0));
  return absl::OkStatus();
}

// An event and a stream that meet.
struct Meeting {
  std::shared_ptr<EventObject> event;
  std::shared_ptr<StreamObject> stream;
};

absl::StatusOr<Meeting> FindMeeting(const Scope& scope, const void* event, const void* stream) {
  Meeting meeting;
  OPSERVE_ASSIGN_OR_RETURN(meeting.event, FindEvent(*scope.runtime, event));
  OPSERVE_ASSIGN_OR_RETURN(meeting.stream, FindStream(scope, stream));
  if (meeting.event->device == meeting.stream->device) return meeting;
  return Failure(ACL_ERROR_RT_PARAM_INVALID,
                 "event: want one of the stream's device, got another's");
}

absl::Status CheckMeasures(const EventObject& event, const char* parameter) {
  if (event.measures_time) return absl::OkStatus();
  return Failure(ACL_ERROR_RT_PARAM_INVALID,
                 absl::StrCat(parameter, ": want an event with ACL_EVENT_TIME_LINE"));
}

}  // namespace

aclError aclrtCreateStream(aclrtStream* stream) {
  return RuntimeCall([&] { return CreateStream(stream); });
}

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t /*priority*/,
                                     uint32_t /*flag*/) {
  return RuntimeCall([&] { return CreateStream(stream); });
}

aclError aclrtDestroyStream(aclrtStream stream) {
  return RuntimeCall([&]() -> absl::Status {
    OPSERVE_ASSIGN_OR_RETURN(const std::shared_ptr<Runtime> runtime, Runtime::Get());
    OPSERVE_RETURN_IF_ERROR(CheckGiven(stream, "stream"));
    const std::shared_ptr<StreamObject> found = runtime->streams.Find(stream);
    if (found == nullptr)
      return Failure(ACL_ERROR_RT_INVALID_HANDLE,
                     "stream: want a handle that was not destroyed, got another");
    if (found->origin == Origin::kDefault) {
      return Failure(ACL_ERROR_RT_PARAM_INVALID,
                     "stream: want one of aclrtCreateStream, got a context's default one");
    }
    runtime->DestroyStream(stream, *found);
    return absl::OkStatus();
  });
}

aclError aclrtSynchronizeStream(aclrtStream stream) { return SynchronizeStream(stream, kForEver); }

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout_ms) {
  return SynchronizeStream(stream, timeout_ms);
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
  return RuntimeCall([&]() -> absl::Status {
    OPSERVE_RETURN_IF_ERROR(CheckGiven(status, "status"));
    OPSERVE_ASSIGN_OR_RETURN(const Scope scope, EnterDevice());
    OPSERVE_ASSIGN_OR_RETURN(const auto found, FindStream(scope, stream));
    OPSERVE_ASSIGN_OR_RETURN(const bool idle, found->stream->IsIdle());
    *status = idle ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
    return absl::OkStatus();
  });
}

aclError aclrtSynchronizeDevice(void) {
  return RuntimeCall([&]() -> absl::Status {
    OPSERVE_ASSIGN_OR_RETURN(const Scope scope, EnterDevice());
    OPSERVE_RETURN_IF_ERROR(Faults::Get().Check(Fault::kSyncTimeout));
    std::set<void*> handles;
    {
      opserve::MutexLock lock(scope.context->mutex);
      handles = scope.context->streams;
    }
    absl::Status first;
    for (const void* handle : handles) {
      const std::shared_ptr<StreamObject> stream = scope.runtime->streams.Find(handle);
      if (stream != nullptr) first.Update(Synchronize(*stream, kForEver));
    }
    return first;
  });
}

aclError aclrtCreateEvent(aclrtEvent* event) {
  return RuntimeCall([&] { return CreateEvent(event, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE); });
}

aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag) {
  return RuntimeCall([&] { return CreateEvent(event, flag); });
}

aclError aclrtDestroyEvent(aclrtEvent event) {
  return RuntimeCall([&]() -> absl::Status {
    OPSERVE_ASSIGN_OR_RETURN(const std::shared_ptr<Runtime> runtime, Runtime::Get());
    OPSERVE_ASSIGN_OR_RETURN(const auto found, FindEvent(*runtime, event));
    runtime->DestroyEvent(event, *found);
    return absl::OkStatus();
  });
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  return RuntimeCall([&]() -> absl::Status {
    OPSERVE_ASSIGN_OR_RETURN(const Scope scope, EnterDevice());
    OPSERVE_ASSIGN_OR_RETURN(const Meeting meeting, FindMeeting(scope, event, stream));
    return meeting.stream->stream->Record(*meeting.event->event);
  });
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
  return RuntimeCall([&]() -> absl::Status {
    OPSERVE_ASSIGN_OR_RETURN(const Scope scope, EnterDevice());
    OPSERVE_ASSIGN_OR_RETURN(const auto found, FindEvent(*scope.runtime, event));
    OPSERVE_RETURN_IF_ERROR(
        Faults::Get().Check(Fault::kSyncTimeout, ACL_ERROR_RT_EVENT_SYNC_TIMEOUT));
    OPSERVE_ASSIGN_OR_RETURN(const bool in_time, found->event->Await(absl::InfiniteDuration()));
    return in_time ? absl::OkStatus() : TimedOut(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, "event");
  });
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
  return RuntimeCall([&]() -> absl::Status {
    OPSERVE_RETURN_IF_ERROR(CheckGiven(status, "status"));
    OPSERVE_ASSIGN_OR_RETURN(const Scope scope, EnterDevice());
    OPSERVE_ASSIGN_OR_RETURN(const auto found, FindEvent(*scope.runtime, event));
    const absl::StatusOr<bool> reached = found->event->Query();
    // Only an event that was never recorded is an invalid one to ask.
    if (!reached.ok() && !absl::IsInvalidArgument(reached.status())) return reached.status();
    *status = reached.value_or(false) ? ACL_EVENT_RECORDED_STATUS_COMPLETE
                                      : ACL_EVENT_RECORDED_STATUS_NOT_READY;
    return absl::OkStatus();
  });
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  return RuntimeCall([&]() -> absl::Status {
    OPSERVE_ASSIGN_OR_RETURN(const Scope scope, EnterDevice());
    OPSERVE_ASSIGN_OR_RETURN(const Meeting meeting, FindMeeting(scope, event, stream));
    return meeting.stream->stream->Wait(*meeting.event->event);
  });
}

aclError aclrtEventElapsedTime(float* ms, aclrtEvent start, aclrtEvent end) {
  return RuntimeCall([&]() -> absl::Status {
    OPSERVE_RETURN_IF_ERROR(CheckGiven(ms, "ms"));
    OPSERVE_ASSIGN_OR_RETURN(const Scope scope, EnterContext());
    OPSERVE_ASSIGN_OR_RETURN(const auto from, FindEvent(*scope.runtime, start));
    OPSERVE_ASSIGN_OR_RETURN(const auto to, FindEvent(*scope.runtime, end));
    OPSERVE_RETURN_IF_ERROR(CheckMeasures(*from, "start"));
    OPSERVE_RETURN_IF_ERROR(CheckMeasures(*to, "end"));
    if (from->device != to->device) {
      return Failure(ACL_ERROR_RT_PARAM_INVALID, "end: want an event of start's device");
    }
    OPSERVE_ASSIGN_OR_RETURN(const absl::Duration elapsed, from->event->TimeUntil(*to->event));
    *ms = static_cast<float>(absl::ToDoubleMilliseconds(elapsed));
    return absl::OkStatus();
  });
}
