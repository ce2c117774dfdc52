#include "client/acl/local/local_device.h"

#include <utility>
#include <vector>

#include "client/acl/local/local_stream.h"
#include "client/acl/provider/reserved_range.h"
#include "core/base/status_macros.h"
#include "core/op/op_table.h"

namespace opserve::acl {
namespace {

class LocalMemory final : public ProvidedMemory {
 public:
  // `addresses`: what the program sees instead of the buffer's own.
  LocalMemory(std::shared_ptr<DeviceBuffer> buffer, std::unique_ptr<ReservedRange> addresses)
      : ProvidedMemory(addresses != nullptr ? addresses->start() : buffer->data(),
                       buffer->size_bytes()),
        buffer_(std::move(buffer)),
        addresses_(std::move(addresses)) {}

  const std::shared_ptr<DeviceBuffer>& buffer() const { return buffer_; }

 private:
  const std::shared_ptr<DeviceBuffer> buffer_;
  const std::unique_ptr<ReservedRange> addresses_;
};

// `nothing` stands for the storage of tensors without elements.
std::vector<StorageView> StoragesOf(const OperatorCall& call,
                                    const std::shared_ptr<DeviceBuffer>& nothing) {
  std::vector<StorageView> storages;
  for (const MemoryView& view : call.storages) storages.push_back(ToStorageView(view));
  const auto empty = [&](const TensorDesc& desc, int storage) {
    if (NumElements(desc.shape) == 0) storages[static_cast<size_t>(storage)] = {nothing, 0};
  };
  for (const NamedInput& input : call.named.inputs) empty(input.desc, input.storage);
  for (const NamedOutput& output : call.named.outputs) {
    if (!output.missing) empty(*output.given, output.storage);
  }
  return storages;
}

}  // namespace

StorageView ToStorageView(const MemoryView& view) {
  if (view.memory == nullptr) return {};
  return {static_cast<const LocalMemory&>(*view.memory).buffer(), view.offset_bytes};
}

MemoryRange RangeAt(const MemoryView& view, int64_t bytes) {
  const StorageView storage = ToStorageView(view);
  return {.start = storage.buffer->data() + storage.offset_bytes,
          .row_bytes = bytes,
          .rows = 1,
          .stride_bytes = bytes};
}

LocalDevice::LocalDevice(Engine& engine, Device& device, Guarding guarding)
    : engine_(engine),
      device_(device),
      guarding_(guarding),
      context_(std::make_shared<Context>(
          device, std::make_shared<MemoryBudget>(device.memory().stats().limit_bytes),
          Clock::Real())),
      nothing_(context_->Allocate(0).value()) {}

absl::StatusOr<std::shared_ptr<ProvidedMemory>> LocalDevice::Allocate(int64_t bytes) {
  OPSERVE_ASSIGN_OR_RETURN(std::shared_ptr<DeviceBuffer> buffer, context_->Allocate(bytes, "size"));
  std::unique_ptr<ReservedRange> addresses;
  if (guarding_ == Guarding::kOn) {
    OPSERVE_ASSIGN_OR_RETURN(addresses, ReservedRange::Reserve(bytes));
  }
  return std::make_shared<LocalMemory>(std::move(buffer), std::move(addresses));
}

absl::StatusOr<MemoryState> LocalDevice::QueryMemory() {
  const MemoryPool::Stats stats = device_.memory().stats();
  return MemoryState{.free_bytes = stats.limit_bytes - stats.used_bytes,
                     .total_bytes = stats.limit_bytes};
}

absl::Status LocalDevice::Upload(const MemoryView& to, std::span<const std::byte> from) {
  return device_.Upload(RangeAt(to, static_cast<int64_t>(from.size())), Fragments(from));
}

absl::Status LocalDevice::Download(const MemoryView& from, std::span<std::byte> to) {
  return device_.Download(RangeAt(from, static_cast<int64_t>(to.size())), 0, to);
}

absl::Status LocalDevice::Copy(const MemoryView& from, const MemoryView& to, int64_t bytes) {
  return device_.Copy(RangeAt(from, bytes), RangeAt(to, bytes));
}

absl::Status LocalDevice::Fill(const MemoryView& to, std::byte value, int64_t bytes) {
  return device_.Fill(RangeAt(to, bytes), std::span(&value, 1));
}

absl::StatusOr<std::shared_ptr<ProvidedStream>> LocalDevice::CreateStream() {
  return std::make_shared<LocalStream>(context_, device_);
}

absl::StatusOr<std::shared_ptr<ProvidedEvent>> LocalDevice::CreateEvent() {
  return std::make_shared<LocalEvent>();
}

absl::StatusOr<std::shared_ptr<ProvidedPlan>> LocalDevice::MakePlan(const OperatorCall& call) {
  NamedCall named = call.named;
  OPSERVE_ASSIGN_OR_RETURN(named.op, FindOperator(named.op->name));
  OPSERVE_ASSIGN_OR_RETURN(
      std::shared_ptr<Executor> executor,
      Executor::Create(engine_, context_, std::move(named), StoragesOf(call, nothing_),
                       Executor::Use::kRepeatable));
  return std::make_shared<LocalPlan>(std::move(executor));
}

}  // namespace opserve::acl
