// What the C interface does with devices: the seam between its objects and whoever has the devices.
// Here that is core's engine; a server's sessions come from a library of their own, opened at run
// time (abi/provider_library.h). So this crosses the boundary of two libraries with hidden symbols:
// pure virtual functions and header-only values, no dynamic_cast.
//
// Contexts are not known here: memory and events are a device's, a context is a set of its streams,
// kept above. Statuses are core's (core/base/op_error.h): 161001 and 161002 for what is wrong with
// a call, RESOURCE_LIMIT where memory is missing, 361001 and UNAVAILABLE for a device that fails.
// All classes are thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/op/named_call.h"

namespace opserve::acl {

// An allocation; free when the last one who names it, or work that uses it, let go. It may outlive
// its provider.
class ProvidedMemory {
 public:
  ProvidedMemory(void* address, int64_t size_bytes) : address_(address), size_bytes_(size_bytes) {}
  virtual ~ProvidedMemory() = default;
  ProvidedMemory(const ProvidedMemory&) = delete;
  ProvidedMemory& operator=(const ProvidedMemory&) = delete;

  // What programs call it: 64-byte aligned, nobody else's for `size_bytes` while this lives. Only
  // arithmetic is done with it (ReservedRange makes such addresses out of nothing).
  void* address() const { return address_; }
  int64_t size_bytes() const { return size_bytes_; }

 private:
  void* const address_;
  const int64_t size_bytes_;
};

// Memory from an offset on, to the allocation's end.
struct MemoryView {
  std::shared_ptr<ProvidedMemory> memory;  // null = none
  int64_t offset_bytes = 0;
};

// A call on memory of the program's. Names are the schema's, and live for ever.
struct OperatorCall {
  // All attributes and outputs of the schema, and the inputs that are not null; outputs are `given`
  // or `missing`. Descriptions are sound (CheckDesc). `op` is of the table of the library that
  // calls: a provider finds its own by the name.
  NamedCall named;
  // What the tensors of `named` index, inputs and outputs alike. May be none for a tensor without
  // elements, and for an output that the call masks out; 161001 otherwise.
  std::vector<MemoryView> storages;

  const MemoryView& StorageOf(const NamedInput& input) const {
    return storages[static_cast<size_t>(input.storage)];
  }
  const MemoryView& StorageOf(const NamedOutput& output) const {
    return storages[static_cast<size_t>(output.storage)];
  }
};

// Phase one's result. May be executed any number of times, on one stream at a time. Keeps its
// memory.
class ProvidedPlan {
 public:
  virtual ~ProvidedPlan() = default;

  virtual int64_t workspace_bytes() const = 0;
  // Other storages for the executions to come, by name; all or nothing.
  virtual absl::Status SetStorages(
      std::span<const std::pair<std::string_view, MemoryView>> storages) = 0;
};

class ProvidedEvent {
 public:
  virtual ~ProvidedEvent() = default;

  // Of the latest recording; 161002 `event` where there is none.
  virtual absl::StatusOr<bool> Query() = 0;
  // False: not reached in time.
  virtual absl::StatusOr<bool> Await(absl::Duration timeout) = 0;
  // 161002 naming an event that was not recorded or not reached. `end` is of the same device.
  virtual absl::StatusOr<absl::Duration> TimeUntil(const ProvidedEvent& end) const = 0;
};

// Work in order; a failure does not stop what is behind it. An error that a function returns is one
// of its arguments: nothing was put on the stream then. Host memory stays until the work has ended.
// Destroying a stream drops what waits on it. Events, memory and plans are of its device.
class ProvidedStream {
 public:
  virtual ~ProvidedStream() = default;

  virtual absl::Status Upload(const MemoryView& to, std::span<const std::byte> from) = 0;
  virtual absl::Status Download(const MemoryView& from, std::span<std::byte> to) = 0;
  virtual absl::Status Copy(const MemoryView& from, const MemoryView& to, int64_t bytes) = 0;
  virtual absl::Status Fill(const MemoryView& to, std::byte value, int64_t bytes) = 0;
  // Phase two. The workspace is apart from the call's tensors, aligned to 64 bytes, and holds at
  // least what the plan wants; none where that is nothing.
  virtual absl::Status Execute(ProvidedPlan& plan, const MemoryView& workspace) = 0;
  virtual absl::Status Record(ProvidedEvent& event) = 0;
  // 161002 `event` when it was never recorded.
  virtual absl::Status Wait(const ProvidedEvent& event) = 0;

  struct Synchronized {
    bool in_time = true;
    // The first failure since the last Synchronize that was in time; forgotten then. Also the loss
    // of the device.
    absl::Status failure;
  };
  // Until all that is on the stream now has ended.
  virtual Synchronized Synchronize(absl::Duration timeout) = 0;
  // Whether nothing runs and nothing waits.
  virtual absl::StatusOr<bool> IsIdle() = 0;
};

struct MemoryState {
  int64_t free_bytes = 0;
  int64_t total_bytes = 0;
};

class ProvidedDevice {
 public:
  virtual ~ProvidedDevice() = default;

  // `bytes` > 0; contents undefined.
  virtual absl::StatusOr<std::shared_ptr<ProvidedMemory>> Allocate(int64_t bytes) = 0;
  virtual absl::StatusOr<MemoryState> QueryMemory() = 0;

  // Transfers that return when they have happened, and wait for no stream. Ranges lie inside their
  // allocations and do not overlap.
  virtual absl::Status Upload(const MemoryView& to, std::span<const std::byte> from) = 0;
  virtual absl::Status Download(const MemoryView& from, std::span<std::byte> to) = 0;
  virtual absl::Status Copy(const MemoryView& from, const MemoryView& to, int64_t bytes) = 0;
  virtual absl::Status Fill(const MemoryView& to, std::byte value, int64_t bytes) = 0;

  virtual absl::StatusOr<std::shared_ptr<ProvidedStream>> CreateStream() = 0;
  virtual absl::StatusOr<std::shared_ptr<ProvidedEvent>> CreateEvent() = 0;
  // Phase one: every check that needs no data.
  virtual absl::StatusOr<std::shared_ptr<ProvidedPlan>> MakePlan(const OperatorCall& call) = 0;
};

// Outlives all that it made but for memory.
class Provider {
 public:
  virtual ~Provider() = default;

  // What aclrtGetSocName says.
  virtual std::string soc_name() const = 0;
  virtual int device_count() const = 0;
  // 0 <= index < device_count. Lives as long as the provider.
  virtual ProvidedDevice& device(int index) = 0;
};

// The one function that a library of remote devices exports, with C linkage, under this name. False
// and `status` when `version` is not the one that it was built with, or `target` cannot be opened.
inline constexpr uint32_t kProviderVersion = 1;
inline constexpr char kOpenProviderName[] = "opserve_acl_open_provider";
using OpenProviderFunction = bool(uint32_t version, const char* target,
                                  std::unique_ptr<Provider>* provider, absl::Status* status);

}  // namespace opserve::acl
