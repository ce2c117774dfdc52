// The C functions around everything: the library's life, devices, contexts.
#include <cstdlib>
#include <string>

#include "acl/acl.h"
#include "acl/opserve_acl.h"
#include "client/acl/abi/environment.h"
#include "client/acl/objects/faults.h"
#include "client/acl/objects/leaks.h"
#include "client/acl/objects/thread_state.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"

using opserve::acl::CheckGiven;
using opserve::acl::ContextObject;
using opserve::acl::EnterContext;
using opserve::acl::Failure;
using opserve::acl::Fault;
using opserve::acl::Faults;
using opserve::acl::Runtime;
using opserve::acl::RuntimeCall;
using opserve::acl::Scope;

aclError aclInit(const char* /*config_path*/) {
  return RuntimeCall([] { return Runtime::Start(opserve::acl::OpenProvider); });
}

aclError aclFinalize(void) {
  return RuntimeCall([]() -> absl::Status {
    OPSERVE_ASSIGN_OR_RETURN(const std::shared_ptr<Runtime> ended, Runtime::End());
    if (ended != nullptr && opserve::acl::ReportsLeaks()) opserve::acl::ReportLeaks(*ended);
    return absl::OkStatus();
  });
}

const char* aclGetRecentErrMsg(void) { return opserve::acl::TakeMessage(); }

const char* aclrtGetSocName(void) {
  const char* name = nullptr;
  RuntimeCall([&]() -> absl::Status {
    OPSERVE_ASSIGN_OR_RETURN(const std::shared_ptr<Runtime> runtime, Runtime::Get());
    const char* other = std::getenv("OPSERVE_ACL_SOC_NAME");
    name = opserve::acl::KeepName(
        other != nullptr && *other != '\0' ? other : runtime->provider().soc_name());
    return absl::OkStatus();
  });
  return name;
}

aclError aclrtSetDevice(int32_t device_id) {
  return RuntimeCall([&]() -> absl::Status {
    OPSERVE_ASSIGN_OR_RETURN(const std::shared_ptr<Runtime> runtime, Runtime::Get());
    OPSERVE_RETURN_IF_ERROR(Faults::Get().Check(Fault::kDeviceLost));
    OPSERVE_ASSIGN_OR_RETURN(const std::shared_ptr<ContextObject> context,
                             runtime->SetDevice(device_id));
    opserve::acl::SetCurrentContext(context->handle);
    return absl::OkStatus();
  });
}

aclError aclrtResetDevice(int32_t device_id) {
  return RuntimeCall([&]() -> absl::Status {
    OPSERVE_ASSIGN_OR_RETURN(const std::shared_ptr<Runtime> runtime, Runtime::Get());
    return runtime->ResetDevice(device_id);
  });
}

aclError aclrtGetDevice(int32_t* device_id) {
  return RuntimeCall([&]() -> absl::Status {
    OPSERVE_RETURN_IF_ERROR(CheckGiven(device_id, "device_id"));
    OPSERVE_ASSIGN_OR_RETURN(const Scope scope, EnterContext());
    *device_id = scope.context->device;
    return absl::OkStatus();
  });
}

aclError aclrtGetDeviceCount(uint32_t* count) {
  return RuntimeCall([&]() -> absl::Status {
    OPSERVE_RETURN_IF_ERROR(CheckGiven(count, "count"));
    OPSERVE_ASSIGN_OR_RETURN(const std::shared_ptr<Runtime> runtime, Runtime::Get());
    *count = static_cast<uint32_t>(runtime->provider().device_count());
    return absl::OkStatus();
  });
}

aclError aclrtGetRunMode(aclrtRunMode* run_mode) {
  return RuntimeCall([&]() -> absl::Status {
    OPSERVE_RETURN_IF_ERROR(CheckGiven(run_mode, "run_mode"));
    OPSERVE_RETURN_IF_ERROR(Runtime::Get().status());
    *run_mode = ACL_HOST;
    return absl::OkStatus();
  });
}

aclError aclrtCreateContext(aclrtContext* context, int32_t device_id) {
  return RuntimeCall([&]() -> absl::Status {
    OPSERVE_RETURN_IF_ERROR(CheckGiven(context, "context"));
    OPSERVE_ASSIGN_OR_RETURN(const std::shared_ptr<Runtime> runtime, Runtime::Get());
    OPSERVE_RETURN_IF_ERROR(Faults::Get().Check(Fault::kDeviceLost));
    OPSERVE_ASSIGN_OR_RETURN(const std::shared_ptr<ContextObject> made,
                             runtime->CreateContext(device_id, opserve::acl::Origin::kProgram));
    opserve::acl::SetCurrentContext(made->handle);
    *context = made->handle;
    return absl::OkStatus();
  });
}

namespace {

absl::StatusOr<std::shared_ptr<ContextObject>> FindContext(const Runtime& runtime,
                                                           const void* handle) {
  OPSERVE_RETURN_IF_ERROR(CheckGiven(handle, "context"));
  std::shared_ptr<ContextObject> context = runtime.contexts.Find(handle);
  if (context != nullptr) return context;
  return Failure(ACL_ERROR_RT_INVALID_HANDLE,
                 "context: want a handle that was not destroyed, got another");
}

}  // namespace

aclError aclrtDestroyContext(aclrtContext context) {
  return RuntimeCall([&]() -> absl::Status {
    OPSERVE_ASSIGN_OR_RETURN(const std::shared_ptr<Runtime> runtime, Runtime::Get());
    OPSERVE_ASSIGN_OR_RETURN(const std::shared_ptr<ContextObject> found,
                             FindContext(*runtime, context));
    if (found->origin == opserve::acl::Origin::kDefault) {
      return Failure(ACL_ERROR_RT_PARAM_INVALID,
                     "context: want one of aclrtCreateContext, got a device's default one, which "
                     "aclrtResetDevice destroys");
    }
    runtime->DestroyContext(found);
    return absl::OkStatus();
  });
}

aclError aclrtSetCurrentContext(aclrtContext context) {
  return RuntimeCall([&]() -> absl::Status {
    OPSERVE_ASSIGN_OR_RETURN(const std::shared_ptr<Runtime> runtime, Runtime::Get());
    OPSERVE_RETURN_IF_ERROR(FindContext(*runtime, context).status());
    opserve::acl::SetCurrentContext(context);
    return absl::OkStatus();
  });
}

aclError aclrtGetCurrentContext(aclrtContext* context) {
  return RuntimeCall([&]() -> absl::Status {
    OPSERVE_RETURN_IF_ERROR(CheckGiven(context, "context"));
    OPSERVE_ASSIGN_OR_RETURN(const Scope scope, EnterContext());
    *context = scope.context->handle;
    return absl::OkStatus();
  });
}

int64_t opserveAclCountLive(opserveAclKind kind) {
  int64_t count = -1;
  RuntimeCall([&] {
    const auto runtime = Runtime::Get();
    count = opserve::acl::CountLive(kind, runtime.ok() ? runtime->get() : nullptr).value_or(-1);
    return absl::OkStatus();
  });
  return count;
}

aclError opserveAclSetFaults(const char* faults) {
  return RuntimeCall([&]() -> absl::Status {
    const absl::Status status = Faults::Get().Set(faults == nullptr ? "" : faults);
    return status.ok() ? status
                       : Failure(ACL_ERROR_INVALID_PARAM, opserve::ToStd(status.message()));
  });
}
