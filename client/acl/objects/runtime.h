// What exists between aclInit and aclFinalize: the provider, and contexts, streams, events,
// executors and memory by their handles.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/acl/objects/address_map.h"
#include "client/acl/objects/handle_table.h"
#include "client/acl/objects/operator_executor.h"
#include "client/acl/provider/provider.h"
#include "core/base/mutex.h"

namespace opserve::acl {

enum class Origin : uint8_t { kProgram, kDefault };

struct StreamObject {
  void* const context;
  const int device;
  const Origin origin;
  const std::shared_ptr<ProvidedStream> stream;

  Mutex mutex;
  absl::Status injected ABSL_GUARDED_BY(mutex);  // a fault that the next synchronization tells of
};

struct EventObject {
  void* const context;
  const int device;
  const bool measures_time;
  const std::shared_ptr<ProvidedEvent> event;
};

struct ContextObject {
  const int device;
  const Origin origin;
  void* handle = nullptr;          // set once, before others see it
  void* default_stream = nullptr;  // likewise

  Mutex mutex;
  bool closed ABSL_GUARDED_BY(mutex) = false;
  std::set<void*> streams ABSL_GUARDED_BY(mutex);
  std::set<void*> events ABSL_GUARDED_BY(mutex);
};

// Thread-safe. Whoever uses it holds it, so that aclFinalize on another thread ends nothing that is
// under way.
class Runtime {
 public:
  // aclInit: opens the devices, unless it was called before.
  using ProviderOpener = absl::StatusOr<std::unique_ptr<Provider>>();
  static absl::Status Start(ProviderOpener& open);
  // aclFinalize: the runtime that has ended, null when an aclInit before the last one holds it.
  static absl::StatusOr<std::shared_ptr<Runtime>> End();
  // 100001 when there is none.
  static absl::StatusOr<std::shared_ptr<Runtime>> Get();

  explicit Runtime(std::unique_ptr<Provider> provider);
  // Waits for the work on all streams.
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  const Provider& provider() const { return *provider_; }
  ProvidedDevice& device(int index) const { return provider_->device(index); }
  // 107001 for one that there is not.
  absl::Status CheckDevice(int device) const;

  // The default context of the device, with one more count; made when there is none.
  absl::StatusOr<std::shared_ptr<ContextObject>> SetDevice(int device);
  absl::Status ResetDevice(int device);

  absl::StatusOr<std::shared_ptr<ContextObject>> CreateContext(int device, Origin origin);
  // Whatever its origin is.
  void DestroyContext(const std::shared_ptr<ContextObject>& context);

  absl::StatusOr<void*> CreateStream(ContextObject& context, Origin origin);
  void DestroyStream(void* handle, const StreamObject& stream);
  absl::StatusOr<void*> CreateEvent(ContextObject& context, bool measures_time);
  void DestroyEvent(void* handle, const EventObject& event);

  // Those that the program made.
  int64_t CountContexts() const;
  int64_t CountStreams() const;

 private:
  struct DefaultContext {
    std::shared_ptr<ContextObject> context;
    int64_t count = 0;
  };

  const std::unique_ptr<Provider> provider_;

 public:
  HandleTable<ContextObject> contexts{HandleKind::kContext};
  HandleTable<StreamObject> streams{HandleKind::kStream};
  HandleTable<EventObject> events{HandleKind::kEvent};
  HandleTable<OperatorExecutor> executors{HandleKind::kExecutor};
  AddressMap device_memory;
  HostMemory host_memory;

 private:
  mutable Mutex mutex_;
  std::map<int, DefaultContext> default_contexts_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace opserve::acl
