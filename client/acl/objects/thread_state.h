// What each thread has of its own: its current context and what its last failed call said.
#pragma once

#include <exception>
#include <memory>
#include <new>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "aclnn/aclnn_base.h"
#include "client/acl/objects/runtime.h"
#include "client/acl/objects/status_codes.h"

namespace opserve::acl {

void* CurrentContext();
void SetCurrentContext(void* context);

// The message of the calling thread; Take forgets it and keeps it readable until the next Take. A
// thread whose own objects are gone (destructors of static ones run then) has none: "".
void SetMessage(const absl::Status& status);
const char* TakeMessage();
// Keeps a name readable until the thread's next; null for a thread whose own objects are gone.
const char* KeepName(std::string name);

// Where a call happens.
struct Scope {
  std::shared_ptr<Runtime> runtime;
  std::shared_ptr<ContextObject> context;

  ProvidedDevice& device() const { return runtime->device(context->device); }
};

// 100001, or 107002.
absl::StatusOr<Scope> EnterContext();
// The same for a call that reaches the device, which may be lost.
absl::StatusOr<Scope> EnterDevice();

// The stream behind a handle; the default one of the scope's context for null. 107017, 107003.
absl::StatusOr<std::shared_ptr<StreamObject>> FindStream(const Scope& scope, const void* handle);
// 100000 for null, 107017.
absl::StatusOr<std::shared_ptr<EventObject>> FindEvent(const Runtime& runtime, const void* handle);

// 100000 naming a parameter that is null.
absl::Status CheckGiven(const void* pointer, const char* parameter);

// What a body ends with, also when it throws.
template <typename Body>
absl::Status StatusOf(Body body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Failure(ACL_ERROR_BAD_ALLOC, "the host has no memory");
  } catch (const std::exception& defect) {
    return Failure(ACL_ERROR_INTERNAL_ERROR, defect.what());
  }
}

// The edges of the library: bodies of its functions, as their codes. Nothing is thrown across.
// Where there is no memory to say what happened, the code is `no_memory` and the message stays as
// it was.
template <typename Body>
int CodeAtEdge(Body body, int (*code_of)(const absl::Status&), int no_memory) noexcept {
  try {
    const absl::Status status = StatusOf(body);
    const int code = code_of(status);
    if (!status.ok()) SetMessage(status);
    return code;
  } catch (...) {
    return no_memory;
  }
}

template <typename Body>
aclError RuntimeCall(Body body) noexcept {
  return CodeAtEdge(body, RuntimeCode, ACL_ERROR_BAD_ALLOC);
}

template <typename Body>
int32_t OperatorCallCode(Body body) noexcept {
  return CodeAtEdge(body, OperatorCode, ACLNN_ERR_RUNTIME_ERROR);
}

}  // namespace opserve::acl
