#include "client/acl/local_device.h"

#include <string>
#include <utility>
#include <vector>

#include "client/acl/local_stream.h"
#include "client/acl/reserved_range.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"

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

absl::Status NoAddresses(int64_t bytes) {
  return MakeError({.reason = ErrorReason::kResourceLimit,
                    .op = {},
                    .parameter = "size",
                    .want = "addresses to reserve",
                    .got = std::to_string(bytes) + " bytes that this process has no room for"});
}

// The call by names, and the storages that its tensors index.
struct Bound {
  NamedCall named;
  std::vector<StorageView> storages;
};

class Binder {
 public:
  explicit Binder(std::shared_ptr<DeviceBuffer> nothing) : nothing_(std::move(nothing)) {}

  Bound Bind(const OperatorCall& call) {
    bound_.named.op = call.op;
    for (const TensorArgument& input : call.inputs)
      bound_.named.inputs.push_back({input.name, input.desc, Store(input)});
    for (const AttributeArgument& attribute : call.attributes)
      bound_.named.attributes.push_back({attribute.name, attribute.value});
    for (const TensorArgument& output : call.outputs) {
      NamedOutput& named = bound_.named.outputs.emplace_back();
      named.name = output.name;
      named.missing = output.missing;
      if (output.missing) continue;
      named.given = output.desc;
      named.storage = Store(output);
    }
    return std::move(bound_);
  }

 private:
  int Store(const TensorArgument& tensor) {
    const bool empty = NumElements(tensor.desc.shape) == 0;
    bound_.storages.push_back(empty ? StorageView{nothing_, 0} : ToStorageView(tensor.storage));
    return static_cast<int>(bound_.storages.size()) - 1;
  }

  const std::shared_ptr<DeviceBuffer> nothing_;
  Bound bound_;
};

}  // namespace

StorageView ToStorageView(const MemoryView& view) {
  if (view.memory == nullptr) return {};
  return {static_cast<const LocalMemory&>(*view.memory).buffer(), view.offset_bytes};
}

MemoryRange ToRegion(const MemoryView& view, int64_t bytes) {
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
    addresses = ReservedRange::Reserve(static_cast<size_t>(bytes));
    if (addresses == nullptr) return NoAddresses(bytes);
  }
  return std::make_shared<LocalMemory>(std::move(buffer), std::move(addresses));
}

absl::StatusOr<MemoryState> LocalDevice::QueryMemory() {
  const MemoryPool::Stats stats = device_.memory().stats();
  return MemoryState{.free_bytes = stats.limit_bytes - stats.used_bytes,
                     .total_bytes = stats.limit_bytes};
}

absl::Status LocalDevice::Upload(const MemoryView& to, std::span<const std::byte> from) {
  return device_.Upload(ToRegion(to, static_cast<int64_t>(from.size())), Fragments(from));
}

absl::Status LocalDevice::Download(const MemoryView& from, std::span<std::byte> to) {
  return device_.Download(ToRegion(from, static_cast<int64_t>(to.size())), 0, to);
}

absl::Status LocalDevice::Copy(const MemoryView& from, const MemoryView& to, int64_t bytes) {
  return device_.Copy(ToRegion(from, bytes), ToRegion(to, bytes));
}

absl::Status LocalDevice::Fill(const MemoryView& to, std::byte value, int64_t bytes) {
  return device_.Fill(ToRegion(to, bytes), std::span(&value, 1));
}

absl::StatusOr<std::shared_ptr<ProvidedStream>> LocalDevice::CreateStream() {
  return std::make_shared<LocalStream>(context_, device_);
}

absl::StatusOr<std::shared_ptr<ProvidedEvent>> LocalDevice::CreateEvent() {
  return std::make_shared<LocalEvent>();
}

absl::StatusOr<std::shared_ptr<ProvidedPlan>> LocalDevice::MakePlan(const OperatorCall& call) {
  Bound bound = Binder(nothing_).Bind(call);
  OPSERVE_ASSIGN_OR_RETURN(std::shared_ptr<Executor> executor,
                           Executor::Create(engine_, context_, std::move(bound.named),
                                            bound.storages, Executor::Use::kRepeatable));
  return std::make_shared<LocalPlan>(std::move(executor));
}

}  // namespace opserve::acl
