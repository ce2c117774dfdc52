#include "tests/support/manual_device.h"

#include <utility>
#include <vector>

#include "core/backends/ascend/ascend_device.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "gtest/gtest.h"
#include "tests/support/stand_in.h"
#include "tests/support/status_matchers.h"
#include "tests/support/unreadable_device.h"

namespace opserve::testing {
namespace {

std::unique_ptr<Device> MakeNpu(const ManualDevice::Options& options, const Clock& clock) {
  auto library = ascend::AclLibrary::Open({StandInFolder()});
  EXPECT_THAT(library, IsOk());
  auto device = ascend::MakeAscendDevice(
      *std::move(library),
      {.id = 0, .threads = options.threads, .memory_limit_bytes = options.memory_bytes}, clock);
  EXPECT_THAT(device, IsOk());
  return *std::move(device);
}

std::unique_ptr<Device> MakeDevice(const ManualDevice::Options& options, const Clock& clock) {
  if (OnNpu()) return MakeNpu(options, clock);
  return std::make_unique<UnreadableDevice>(options.name, options.threads, options.memory_bytes,
                                            clock);
}

}  // namespace

ManualDevice::ManualDevice(const Options& options, const Clock& clock)
    : device_(MakeDevice(options, clock)),
      info_(device_->info()),
      concatenation_(options.concatenation != nullptr ? options.concatenation
                                                      : device_->concatenation()) {
  info_.name = options.name;
}

ManualDevice::~ManualDevice() {
  {
    MutexLock lock(mutex_);
    for (Gate& gate : gates_) gate.held = false;
  }
  changed_.NotifyAll();
  device_.reset();
}

void ManualDevice::Hold(Work kind) {
  MutexLock lock(mutex_);
  gates_[static_cast<size_t>(kind)].held = true;
}

void ManualDevice::Release(Work kind) {
  {
    MutexLock lock(mutex_);
    gates_[static_cast<size_t>(kind)].held = false;
  }
  changed_.NotifyAll();
}

void ManualDevice::AwaitHeld(Work kind, int count) {
  MutexLock lock(mutex_);
  while (gates_[static_cast<size_t>(kind)].standing < count) changed_.Wait(mutex_);
}

void ManualDevice::FailNext(Work kind) {
  MutexLock lock(mutex_);
  ++gates_[static_cast<size_t>(kind)].failures;
}

int64_t ManualDevice::begun(Work kind) const {
  MutexLock lock(mutex_);
  return gates_[static_cast<size_t>(kind)].begun;
}

absl::Status ManualDevice::Pass(Work kind) {
  MutexLock lock(mutex_);
  Gate& gate = gates_[static_cast<size_t>(kind)];
  ++gate.standing;
  changed_.NotifyAll();
  while (gate.held) changed_.Wait(mutex_);
  --gate.standing;
  ++gate.begun;
  if (gate.failures == 0) return absl::OkStatus();
  --gate.failures;
  return MakeError({.reason = ErrorReason::kDeviceError,
                    .op = {},
                    .parameter = "device",
                    .want = "a device that works",
                    .got = "one that the test broke"});
}

absl::Status ManualDevice::Execute(const Kernel& kernel, const KernelArgs& args) {
  OPSERVE_RETURN_IF_ERROR(Pass(Work::kKernel));
  return device_->Execute(kernel, args);
}

absl::Status ManualDevice::Upload(const MemoryRange& to, const Fragments& from,
                                  const Workers& workers) {
  OPSERVE_RETURN_IF_ERROR(Pass(Work::kUpload));
  return device_->Upload(to, from, workers);
}

absl::Status ManualDevice::Download(const MemoryRange& from, int64_t offset_bytes,
                                    std::span<std::byte> to, const Workers& workers) {
  OPSERVE_RETURN_IF_ERROR(Pass(Work::kDownload));
  return device_->Download(from, offset_bytes, to, workers);
}

absl::Status ManualDevice::Copy(const MemoryRange& from, const MemoryRange& to,
                                const Workers& workers) {
  OPSERVE_RETURN_IF_ERROR(Pass(Work::kCopy));
  return device_->Copy(from, to, workers);
}

absl::Status ManualDevice::Fill(const MemoryRange& to, std::span<const std::byte> pattern,
                                const Workers& workers) {
  OPSERVE_RETURN_IF_ERROR(Pass(Work::kFill));
  return device_->Fill(to, pattern, workers);
}

ManualEngine MakeManualEngine(const Clock& clock, const ManualDevice::Options& options) {
  auto device = std::make_unique<ManualDevice>(options, clock);
  ManualEngine made;
  made.device = device.get();
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(std::move(device));
  made.engine = *Engine::Create(std::move(devices), clock);
  return made;
}

}  // namespace opserve::testing
