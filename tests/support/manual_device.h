// A device whose memory the host cannot follow, and whose work goes when the test lets it.
//
// Its addresses lie in a mapping without access rights; the bytes themselves are in a second
// mapping that only its transfers and kernels know. So whatever follows a device's address faults,
// and whatever hands it an address of the host fails (561103). Kernels are the CPU's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "core/base/mutex.h"
#include "core/device/device.h"
#include "core/engine/engine.h"

namespace opserve::testing {

// Memory in two mappings. Thread-safe.
class UnreadableMemory final : public MemorySource {
 public:
  explicit UnreadableMemory(size_t bytes);
  ~UnreadableMemory() override;

  std::byte* Allocate(size_t bytes) override;
  void Free(std::byte* data, size_t bytes) override;

  // Where the `bytes` from `address` on really are; nullptr when they are not all of this memory.
  std::byte* Real(const std::byte* address, int64_t bytes) const;

 private:
  const size_t bytes_;
  std::byte* shown_;
  std::byte* real_;
  Mutex mutex_;
  std::map<size_t, size_t> free_ ABSL_GUARDED_BY(mutex_);  // offset → bytes, never side by side
};

class ManualDevice final : public Device {
 public:
  enum class Work : uint8_t { kUpload, kDownload, kCopy, kFill, kKernel };
  static constexpr size_t kKindsOfWork = 5;

  struct Options {
    std::string name = "manual:0";
    int threads = 2;
    int64_t memory_bytes = int64_t{64} << 20;
    // It must outlive the device.
    const Concatenation* concatenation = nullptr;
  };

  ManualDevice(const Options& options, const Clock& clock);
  // Lets go of what is held, waits for it.
  ~ManualDevice() override;

  // From now on work of this kind waits before it begins, on the thread that brought it.
  void Hold(Work kind);
  void Release(Work kind);
  // Waits until `count` pieces of held work stand at the gate.
  void AwaitHeld(Work kind, int count = 1);
  // The next piece of work of this kind does nothing and fails with 361001.
  void FailNext(Work kind);
  // Pieces of work that passed the gate.
  int64_t begun(Work kind) const;

  const DeviceInfo& info() const override { return info_; }
  const Kernel* FindKernel(const Operator& op) const override;
  WorkerPool& workers() override { return *workers_; }
  const Concatenation* concatenation() const override { return concatenation_; }
  MemoryPool& memory() override { return memory_; }
  MemoryPool& host_memory() override { return host_memory_; }
  absl::Status Upload(const MemoryRegion& to, const Fragments& from) override;
  absl::Status Download(const MemoryRegion& from, int64_t offset_bytes,
                        std::span<std::byte> to) override;
  absl::Status Copy(const MemoryRegion& from, const MemoryRegion& to) override;
  absl::Status Fill(const MemoryRegion& to, std::span<const std::byte> pattern) override;

  // For the kernel table: runs the CPU's kernel where the bytes are.
  absl::Status RunKernel(const KernelArgs& args);

 private:
  struct Gate {
    bool held = false;
    int standing = 0;
    int failures = 0;
    int64_t begun = 0;
  };

  absl::Status Pass(Work kind);
  absl::StatusOr<MemoryRegion> Real(const MemoryRegion& region) const;

  const DeviceInfo info_;
  const Concatenation* const concatenation_;
  UnreadableMemory bytes_;
  MemoryPool memory_;
  MemoryPool host_memory_;
  mutable Mutex mutex_;
  CondVar changed_;
  std::array<Gate, kKindsOfWork> gates_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<WorkerPool> workers_;
};

// An engine with one such device.
struct ManualEngine {
  std::unique_ptr<Engine> engine;
  ManualDevice* device = nullptr;
};
ManualEngine MakeManualEngine(const Clock& clock, const ManualDevice::Options& options = {});

}  // namespace opserve::testing
