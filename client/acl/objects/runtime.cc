#include "client/acl/objects/runtime.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/acl/objects/status_codes.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve::acl {
namespace {

// The one runtime of the process. Never destroyed: threads may outlive main().
struct Holder {
  Mutex mutex;
  std::shared_ptr<Runtime> runtime ABSL_GUARDED_BY(mutex);
  int64_t starts ABSL_GUARDED_BY(mutex) = 0;
};

Holder& TheHolder() {
  static auto& holder = *new Holder();
  return holder;
}

// A variable that makes no sense is a bad argument of aclInit.
absl::Status AsInitFailure(const absl::Status& status) {
  const std::optional<ErrorDetail> detail = GetErrorDetail(status);
  if (!detail.has_value() || GetErrorReasonInfo(detail->reason).aclnn_code != 161002) return status;
  return Failure(ACL_ERROR_INVALID_PARAM, absl::StrCat("aclInit: ", status.message()));
}

absl::Status ContextIsGone() {
  return Failure(ACL_ERROR_RT_INVALID_HANDLE, "the context was destroyed meanwhile");
}

}  // namespace

absl::Status Runtime::Start(ProviderOpener& open) {
  Holder& holder = TheHolder();
  MutexLock lock(holder.mutex);
  if (holder.starts > 0) {
    ++holder.starts;
    return Failure(ACL_ERROR_REPEAT_INITIALIZE,
                   "aclInit: it was already called; call aclFinalize first");
  }
  absl::StatusOr<std::unique_ptr<Provider>> provider = open();
  if (!provider.ok()) return AsInitFailure(provider.status());
  holder.runtime = std::make_shared<Runtime>(*std::move(provider));
  holder.starts = 1;
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<Runtime>> Runtime::End() {
  Holder& holder = TheHolder();
  MutexLock lock(holder.mutex);
  if (holder.starts == 0)
    return Failure(ACL_ERROR_REPEAT_FINALIZE, "aclFinalize: want an aclInit before it");
  if (--holder.starts > 0) return nullptr;
  return std::move(holder.runtime);
}

absl::StatusOr<std::shared_ptr<Runtime>> Runtime::Get() {
  Holder& holder = TheHolder();
  MutexLock lock(holder.mutex);
  if (holder.runtime != nullptr) return holder.runtime;
  return Failure(ACL_ERROR_UNINITIALIZE, "want aclInit before it");
}

Runtime::Runtime(std::unique_ptr<Provider> provider) : provider_(std::move(provider)) {}

Runtime::~Runtime() {
  for (const std::shared_ptr<StreamObject>& stream : streams.All())
    stream->stream->Synchronize(absl::InfiniteDuration());
}

absl::Status Runtime::CheckDevice(int device) const {
  const int count = provider_->device_count();
  if (device >= 0 && device < count) return absl::OkStatus();
  return Failure(ACL_ERROR_RT_INVALID_DEVICEID,
                 absl::StrCat("device_id: want 0 <= device_id < ", count, ", got ", device));
}

absl::StatusOr<std::shared_ptr<ContextObject>> Runtime::SetDevice(int device) {
  OPSERVE_RETURN_IF_ERROR(CheckDevice(device));
  MutexLock lock(mutex_);
  DefaultContext& entry = default_contexts_[device];
  if (entry.context == nullptr) {
    OPSERVE_ASSIGN_OR_RETURN(entry.context, CreateContext(device, Origin::kDefault));
  }
  ++entry.count;
  return entry.context;
}

absl::Status Runtime::ResetDevice(int device) {
  OPSERVE_RETURN_IF_ERROR(CheckDevice(device));
  std::shared_ptr<ContextObject> last;
  {
    MutexLock lock(mutex_);
    DefaultContext& entry = default_contexts_[device];
    if (entry.count == 0) {
      return Failure(ACL_ERROR_RT_INVALID_DEVICEID,
                     absl::StrCat("device ", device, ": want aclrtSetDevice before it"));
    }
    if (--entry.count == 0) last = std::move(entry.context);
  }
  if (last != nullptr) DestroyContext(last);
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<ContextObject>> Runtime::CreateContext(int device, Origin origin) {
  OPSERVE_RETURN_IF_ERROR(CheckDevice(device));
  std::shared_ptr<ContextObject> context(new ContextObject{.device = device, .origin = origin});
  context->handle = contexts.Add(context);
  absl::StatusOr<void*> stream = CreateStream(*context, Origin::kDefault);
  if (!stream.ok()) {
    contexts.Remove(context->handle);
    return stream.status();
  }
  context->default_stream = *stream;
  return context;
}

void Runtime::DestroyContext(const std::shared_ptr<ContextObject>& context) {
  contexts.Remove(context->handle);
  std::set<void*> own_streams;
  std::set<void*> own_events;
  {
    MutexLock lock(context->mutex);
    context->closed = true;
    own_streams.swap(context->streams);
    own_events.swap(context->events);
  }
  for (void* handle : own_streams) {
    const std::shared_ptr<StreamObject> stream = streams.Remove(handle);
    if (stream != nullptr) stream->stream->Synchronize(absl::InfiniteDuration());
  }
  for (void* handle : own_events) events.Remove(handle);
}

absl::StatusOr<void*> Runtime::CreateStream(ContextObject& context, Origin origin) {
  OPSERVE_ASSIGN_OR_RETURN(std::shared_ptr<ProvidedStream> stream,
                           device(context.device).CreateStream());
  std::shared_ptr<StreamObject> object(new StreamObject{.context = context.handle,
                                                        .device = context.device,
                                                        .origin = origin,
                                                        .stream = std::move(stream)});
  MutexLock lock(context.mutex);
  if (context.closed) return ContextIsGone();
  return *context.streams.insert(streams.Add(std::move(object))).first;
}

void Runtime::DestroyStream(void* handle, const StreamObject& stream) {
  if (streams.Remove(handle) == nullptr) return;
  if (const std::shared_ptr<ContextObject> context = contexts.Find(stream.context)) {
    MutexLock lock(context->mutex);
    context->streams.erase(handle);
  }
  stream.stream->Synchronize(absl::InfiniteDuration());
}

absl::StatusOr<void*> Runtime::CreateEvent(ContextObject& context, bool measures_time) {
  OPSERVE_ASSIGN_OR_RETURN(std::shared_ptr<ProvidedEvent> event,
                           device(context.device).CreateEvent());
  std::shared_ptr<EventObject> object(new EventObject{.context = context.handle,
                                                      .device = context.device,
                                                      .measures_time = measures_time,
                                                      .event = std::move(event)});
  MutexLock lock(context.mutex);
  if (context.closed) return ContextIsGone();
  return *context.events.insert(events.Add(std::move(object))).first;
}

void Runtime::DestroyEvent(void* handle, const EventObject& event) {
  events.Remove(handle);
  if (const std::shared_ptr<ContextObject> context = contexts.Find(event.context)) {
    MutexLock lock(context->mutex);
    context->events.erase(handle);
  }
}

int64_t Runtime::CountContexts() const {
  const auto all = contexts.All();
  return std::count_if(all.begin(), all.end(),
                       [](const auto& context) { return context->origin == Origin::kProgram; });
}

int64_t Runtime::CountStreams() const {
  const auto all = streams.All();
  return std::count_if(all.begin(), all.end(),
                       [](const auto& stream) { return stream->origin == Origin::kProgram; });
}

}  // namespace opserve::acl
