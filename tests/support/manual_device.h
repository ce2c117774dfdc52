// A device whose work goes when the test lets it. The device below it has memory that the host
// cannot follow: an UnreadableDevice, or, where OPSERVE_TEST_DEVICE is "ascend", an NPU, whose
// vendor's libraries are the stand-in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "core/base/mutex.h"
#include "core/device/device.h"
#include "core/engine/engine.h"

namespace opserve::testing {

class ManualDevice final : public Device {
 public:
  enum class Work : uint8_t { kUpload, kDownload, kCopy, kFill, kKernel };
  static constexpr size_t kKindsOfWork = 5;

  struct Options {
    std::string name = "manual:0";
    int threads = 2;
    int64_t memory_bytes = int64_t{64} << 20;
    // Instead of the device's own. It must outlive the device.
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
  absl::Status health() const override { return device_->health(); }
  const Kernel* FindKernel(const Operator& op) const override { return device_->FindKernel(op); }
  absl::Status Execute(const Kernel& kernel, const KernelArgs& args) override;
  bool runs_ranges() const override { return device_->runs_ranges(); }
  WorkerPool& workers() override { return device_->workers(); }
  const Concatenation* concatenation() const override { return concatenation_; }
  MemoryPool& memory() override { return device_->memory(); }
  MemoryPool& host_memory() override { return device_->host_memory(); }
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
  struct Gate {
    bool held = false;
    int standing = 0;
    int failures = 0;
    int64_t begun = 0;
  };

  absl::Status Pass(Work kind);

  mutable Mutex mutex_;
  CondVar changed_;
  std::array<Gate, kKindsOfWork> gates_ ABSL_GUARDED_BY(mutex_);
  // Its workers may stand at the gates.
  std::unique_ptr<Device> device_;
  DeviceInfo info_;  // its, with the name of the options
  const Concatenation* const concatenation_;
};

// An engine with one such device.
struct ManualEngine {
  std::unique_ptr<Engine> engine;
  ManualDevice* device = nullptr;
};
ManualEngine MakeManualEngine(const Clock& clock, const ManualDevice::Options& options = {});

}  // namespace opserve::testing
