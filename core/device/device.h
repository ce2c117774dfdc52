// A device: memory, workers, and a kernel for each operator that it can run.
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

// For a device that is faster with few launches of much work. Waiting calls are joined: one call on
// flat tensors, in which their elements follow each other.
struct Concatenation {
  // Whether each output element of a planned call depends only on the attributes and on the input
  // elements at its place. The gradient of a mean does not: it depends on the number of elements.
  // Called only for maps (Operator::runs_in_pieces).
  bool (*is_of_elements)(const OpCall& call) = nullptr;
  // Limits of one launch. A call above them is not joined.
  size_t max_calls = 1;
  int64_t max_bytes = 0;  // of inputs and outputs
};

// Thread-safe.
class Device {
 public:
  virtual ~Device() = default;

  virtual const DeviceInfo& info() const = 0;
  // OK, or why the device is lost for good (DEVICE_LOST); later work fails with that status. Any
  // thread, any time.
  virtual absl::Status health() const { return absl::OkStatus(); }
  // nullptr when this device cannot run the operator at all; the profile is checked by PlanCall.
  virtual const Kernel* FindKernel(const Operator& op) const = 0;
  // Runs a kernel of this device. A device overrides this if kernels need more than `args`.
  virtual absl::Status Execute(const Kernel& kernel, const KernelArgs& args) {
    return kernel.execute(args);
  }
  // Whether its kernels support KernelArgs::range.
  virtual bool runs_ranges() const { return false; }
  virtual WorkerPool& workers() = 0;
  // nullptr if calls are never joined. Otherwise it lives as long as the device.
  virtual const Concatenation* concatenation() const { return nullptr; }

  // The device's memory. Only the device may dereference its addresses.
  virtual MemoryPool& memory() = 0;
  // Host memory with the fastest transfers to and from the device (pinned, if that matters).
  virtual MemoryPool& host_memory() = 0;
  // Whether kernels can use host addresses directly, so that one-shot calls need no transfers. Then
  // memory() and host_memory() are the same pool.
  virtual bool uses_host_memory() const { return false; }

  // Transfers. Each blocks until it is complete, or returns soon after `workers` (of workers())
  // were stopped; then only a part was transferred. Any thread may call them. Ranges lie in leases
  // of memory(), all other bytes in host memory. Errors: 361001; 561103 for arguments that are not
  // as stated here, which is a defect of the caller.

  // `from` has exactly the range's bytes.
  virtual absl::Status Upload(const MemoryRange& to, const Fragments& from,
                              const Workers& workers) = 0;
  // Fills `to` with the bytes of the range from `offset_bytes` on; they must lie inside the range.
  virtual absl::Status Download(const MemoryRange& from, int64_t offset_bytes,
                                std::span<std::byte> to, const Workers& workers) = 0;
  // Both ranges have the same number of bytes, perhaps in other rows. They do not overlap.
  virtual absl::Status Copy(const MemoryRange& from, const MemoryRange& to,
                            const Workers& workers) = 0;
  // Repeats `pattern` of 1, 2, 4 or 8 bytes. The bytes of a row are a multiple of its size.
  virtual absl::Status Fill(const MemoryRange& to, std::span<const std::byte> pattern,
                            const Workers& workers) = 0;

  // The same, and nothing stops them before they are complete.
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
