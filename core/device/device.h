// What executes calls: memory, workers and a kernel for each operator that it has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "core/base/fragments.h"
#include "core/device/kernel.h"
#include "core/device/memory_pool.h"
#include "core/device/memory_range.h"
#include "core/op/operator.h"
#include "core/op/profile.h"
#include "core/workers/worker_pool.h"

namespace opserve {

struct DeviceInfo {
  std::string name;         // "cpu:0"
  std::string kind;         // "cpu"
  std::string description;  // "2 threads, AVX3"
  Profile profile = Profile::kHost;
  int threads = 1;
};

// What a device says that gains by few launches of much work. Calls are joined end to end as one
// call on flat tensors.
struct Concatenation {
  // Whether each element of the outputs of a planned call follows from the inputs' elements at its
  // place and the attributes, and from nothing else: not from how many there are, as a mean's
  // gradient does. Asked only of maps (Operator::runs_in_pieces).
  bool (*is_of_elements)(const OpCall& call) = nullptr;
  // Of one launch. A call that is larger by itself is not joined.
  size_t max_calls = 1;
  int64_t max_bytes = 0;  // of inputs and outputs
};

// Thread-safe.
class Device {
 public:
  virtual ~Device() = default;

  virtual const DeviceInfo& info() const = 0;
  // OK, or why it is lost for good (DEVICE_LOST): all that comes fails with that. Any thread, any
  // time.
  virtual absl::Status health() const { return absl::OkStatus(); }
  // nullptr when this device cannot run the operator at all; the profile is checked by PlanCall.
  virtual const Kernel* FindKernel(const Operator& op) const = 0;
  // Runs a kernel of its own. One that takes more than its arguments has it from the device.
  virtual absl::Status Execute(const Kernel& kernel, const KernelArgs& args) {
    return kernel.execute(args);
  }
  // Whether its kernels heed KernelArgs::range.
  virtual bool runs_ranges() const { return false; }
  virtual WorkerPool& workers() = 0;
  // nullptr when each call is run by itself. Else lives as long as the device.
  virtual const Concatenation* concatenation() const { return nullptr; }

  // The device's memory. Only the device itself may follow its addresses.
  virtual MemoryPool& memory() = 0;
  // Memory of the host that transfers go from and to quickest (pinned, where that matters).
  virtual MemoryPool& host_memory() = 0;
  // Whether kernels take any address of the host for one of the device's, so that one-shot calls
  // need no transfers: memory() and host_memory() are the same then.
  virtual bool uses_host_memory() const { return false; }

  // Transfers. Each returns when it has happened, or soon after `workers`, which are of workers(),
  // were stopped: then some of it has. They may be called from any thread. Ranges lie in leases of
  // memory(), all other bytes in memory of the host. Errors: 361001; an argument that is not as
  // stated is a defect of the caller's (561103).

  // `from` has exactly the range's bytes.
  virtual absl::Status Upload(const MemoryRange& to, const Fragments& from,
                              const Workers& workers) = 0;
  // The range's bytes from `offset_bytes` on, as many as `to` has; they lie inside the range.
  virtual absl::Status Download(const MemoryRange& from, int64_t offset_bytes,
                                std::span<std::byte> to, const Workers& workers) = 0;
  // Ranges of as many bytes in all, whose rows may differ. They do not overlap.
  virtual absl::Status Copy(const MemoryRange& from, const MemoryRange& to,
                            const Workers& workers) = 0;
  // Repeats `pattern`, of 1, 2, 4 or 8 bytes; each row is a whole number of them.
  virtual absl::Status Fill(const MemoryRange& to, std::span<const std::byte> pattern,
                            const Workers& workers) = 0;

  // The same, to their ends.
  absl::Status Upload(const MemoryRange& to, const Fragments& from) {
    return Upload(to, from, Workers(workers()));
  }
  absl::Status Download(const MemoryRange& from, int64_t offset_bytes, std::span<std::byte> to) {
    return Download(from, offset_bytes, to, Workers(workers()));
  }
  absl::Status Copy(const MemoryRange& from, const MemoryRange& to) {
    return Copy(from, to, Workers(workers()));
  }
  absl::Status Fill(const MemoryRange& to, std::span<const std::byte> pattern) {
    return Fill(to, pattern, Workers(workers()));
  }
};

}  // namespace opserve
