// A device of core's engine, as the C interface sees it.
#pragma once

#include <memory>
#include <span>

#include "client/acl/provider/provider.h"
#include "core/device/context.h"
#include "core/device/device.h"
#include "core/engine/engine.h"
#include "core/engine/executor.h"

namespace opserve::acl {

enum class Guarding : uint8_t { kOff, kOn };

class LocalDevice final : public ProvidedDevice {
 public:
  // The engine must outlive it, and all that it makes but for memory.
  LocalDevice(Engine& engine, Device& device, Guarding guarding);

  absl::StatusOr<std::shared_ptr<ProvidedMemory>> Allocate(int64_t bytes) override;
  absl::StatusOr<MemoryState> QueryMemory() override;
  absl::Status Upload(const MemoryView& to, std::span<const std::byte> from) override;
  absl::Status Download(const MemoryView& from, std::span<std::byte> to) override;
  absl::Status Copy(const MemoryView& from, const MemoryView& to, int64_t bytes) override;
  absl::Status Fill(const MemoryView& to, std::byte value, int64_t bytes) override;
  absl::StatusOr<std::shared_ptr<ProvidedStream>> CreateStream() override;
  absl::StatusOr<std::shared_ptr<ProvidedEvent>> CreateEvent() override;
  absl::StatusOr<std::shared_ptr<ProvidedPlan>> MakePlan(const OperatorCall& call) override;

 private:
  Engine& engine_;
  Device& device_;
  const Guarding guarding_;
  // One for all contexts of the program: memory is the device's.
  const std::shared_ptr<Context> context_;
  const std::shared_ptr<DeviceBuffer> nothing_;  // 0 bytes, for tensors without elements
};

// The memory behind a view of one of these devices.
StorageView ToStorageView(const MemoryView& view);

// Its `bytes` from the view's start on.
MemoryRange RangeAt(const MemoryView& view, int64_t bytes);

}  // namespace opserve::acl
