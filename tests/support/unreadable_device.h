// A device whose memory the host cannot follow.
//
// Its addresses lie in a mapping without access rights; the bytes themselves are in a second
// mapping that only its transfers and kernels know. So whatever follows a device's address faults,
// and whatever hands it an address of the host fails (561103). Kernels are the CPU's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "core/base/mutex.h"
#include "core/device/device.h"

namespace opserve::testing {

// Memory in two mappings. Thread-safe.
class UnreadableMemory final : public MemorySource {
 public:
  explicit UnreadableMemory(size_t bytes);
  ~UnreadableMemory() override;

  std::byte* Allocate(size_t bytes) override;
  void Free(std::byte* data, size_t bytes) override;
  absl::Status Clear(std::byte* data, size_t bytes) override;

  // Where the `bytes` from `address` on really are; nullptr when they are not all of this memory.
  std::byte* Real(const std::byte* address, int64_t bytes) const;

 private:
  const size_t bytes_;
  std::byte* shown_;
  std::byte* real_;
  Mutex mutex_;
  std::map<size_t, size_t> free_ ABSL_GUARDED_BY(mutex_);  // offset → bytes, never side by side
};

class UnreadableDevice final : public Device {
 public:
  UnreadableDevice(const std::string& name, int threads, int64_t memory_bytes, const Clock& clock);

  const DeviceInfo& info() const override { return info_; }
  const Kernel* FindKernel(const Operator& op) const override;
  absl::Status Execute(const Kernel& kernel, const KernelArgs& args) override;
  bool runs_ranges() const override { return true; }
  WorkerPool& workers() override { return workers_; }
  MemoryPool& memory() override { return memory_; }
  MemoryPool& host_memory() override { return host_memory_; }
  using Device::Copy;
  using Device::Download;
  using Device::Fill;
  using Device::Upload;
  absl::Status Upload(const MemoryRange& to, const Fragments& from,
                      const Workers& workers) override;
  absl::Status Download(const MemoryRange& from, int64_t offset_bytes, std::span<std::byte> to,
                        const Workers& workers) override;
  absl::Status Copy(const MemoryRange& from, const MemoryRange& to,
                    const Workers& workers) override;
  absl::Status Fill(const MemoryRange& to, std::span<const std::byte> pattern,
                    const Workers& workers) override;

 private:
  absl::StatusOr<MemoryRange> Real(const MemoryRange& region) const;

  const DeviceInfo info_;
  UnreadableMemory bytes_;
  MemoryPool memory_;
  MemoryPool host_memory_;
  WorkerPool workers_;
};

}  // namespace opserve::testing
