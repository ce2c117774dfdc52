#include "client/acl/objects/thread_state.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/acl/objects/faults.h"
#include "core/base/status_macros.h"

namespace opserve::acl {
namespace {

struct Texts {
  std::string message;
  std::string taken;
  std::string name;
};

// Trivial, so that it is there for destructors of static objects, which run when the thread's own
// objects are gone.
struct ThreadState {
  void* context;
  Texts* texts;
  bool has_ended;
};

constinit thread_local ThreadState this_thread = {};

struct ThreadEnd {
  ~ThreadEnd() {
    this_thread.has_ended = true;
    delete std::exchange(this_thread.texts, nullptr);
  }
};

// Null when the thread has ended.
Texts* MakeTexts() {
  if (this_thread.texts == nullptr && !this_thread.has_ended) {
    thread_local const ThreadEnd end;
    this_thread.texts = new Texts();
  }
  return this_thread.texts;
}

absl::Status NotAHandle(const char* kind) {
  return Failure(ACL_ERROR_RT_INVALID_HANDLE,
                 absl::StrCat(kind, ": want a handle that was not destroyed, got another"));
}

}  // namespace

void* CurrentContext() { return this_thread.context; }
void SetCurrentContext(void* context) { this_thread.context = context; }

void SetMessage(const absl::Status& status) {
  Texts* texts = MakeTexts();
  if (texts != nullptr) texts->message.assign(status.message().data(), status.message().size());
}

const char* TakeMessage() {
  Texts* texts = this_thread.texts;
  if (texts == nullptr) return "";
  texts->taken = std::exchange(texts->message, std::string());
  return texts->taken.c_str();
}

const char* KeepName(std::string name) {
  Texts* texts = MakeTexts();
  if (texts == nullptr) return nullptr;
  texts->name = std::move(name);
  return texts->name.c_str();
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
