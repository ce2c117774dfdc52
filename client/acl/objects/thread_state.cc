#include "client/acl/objects/thread_state.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/acl/objects/faults.h"
#include "core/base/status_macros.h"

namespace opserve::acl {
namespace {

struct ThreadState {
  void* context = nullptr;
  std::string message;
  std::string taken;
};

ThreadState& ThisThread() {
  thread_local ThreadState state;
  return state;
}

absl::Status NotAHandle(const char* kind) {
  return Failure(ACL_ERROR_RT_INVALID_HANDLE,
                 absl::StrCat(kind, ": want a handle that was not destroyed, got another"));
}

}  // namespace

void* CurrentContext() { return ThisThread().context; }
void SetCurrentContext(void* context) { ThisThread().context = context; }

void SetMessage(const absl::Status& status) {
  ThisThread().message.assign(status.message().data(), status.message().size());
}

const char* TakeMessage() {
  ThreadState& state = ThisThread();
  state.taken = std::exchange(state.message, std::string());
  return state.taken.c_str();
}

absl::StatusOr<Scope> EnterContext() {
  Scope scope;
  OPSERVE_ASSIGN_OR_RETURN(scope.runtime, Runtime::Get());
  scope.context = scope.runtime->contexts.Find(CurrentContext());
  if (scope.context != nullptr) return scope;
  return Failure(ACL_ERROR_RT_CONTEXT_NULL,
                 "the thread has no current context: want aclrtSetDevice or aclrtSetCurrentContext "
                 "before it");
}

absl::StatusOr<Scope> EnterDevice() {
  OPSERVE_ASSIGN_OR_RETURN(Scope scope, EnterContext());
  OPSERVE_RETURN_IF_ERROR(Faults::Get().Check(Fault::kDeviceLost));
  return scope;
}

absl::StatusOr<std::shared_ptr<StreamObject>> FindStream(const Scope& scope, const void* handle) {
  if (handle == nullptr) handle = scope.context->default_stream;
  std::shared_ptr<StreamObject> stream = scope.runtime->streams.Find(handle);
  if (stream == nullptr) return NotAHandle("stream");
  if (stream->context == scope.context->handle) return stream;
  return Failure(ACL_ERROR_RT_STREAM_CONTEXT,
                 "stream: want one of the thread's current context, got another's");
}

absl::StatusOr<std::shared_ptr<EventObject>> FindEvent(const Runtime& runtime, const void* handle) {
  OPSERVE_RETURN_IF_ERROR(CheckGiven(handle, "event"));
  std::shared_ptr<EventObject> event = runtime.events.Find(handle);
  if (event == nullptr) return NotAHandle("event");
  return event;
}

absl::Status CheckGiven(const void* pointer, const char* parameter) {
  if (pointer != nullptr) return absl::OkStatus();
  return Failure(ACL_ERROR_INVALID_PARAM,
                 absl::StrCat(parameter, ": want a pointer that is not null, got null"));
}

}  // namespace opserve::acl
