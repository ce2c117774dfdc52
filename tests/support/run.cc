#include "tests/support/run.h"

#include <algorithm>
#include <cstring>
#include <future>
#include <span>

#include "core/base/status_macros.h"
#include "core/op/op_table.h"
#include "gtest/gtest.h"
#include "tests/support/stand_in.h"

namespace opserve::testing {
namespace {

constexpr size_t kCanaryBytes = 256;
constexpr std::byte kCanary{0xC5};

// Memory between canaries.
class Guarded {
 public:
  Guarded(size_t size, std::byte fill)
      : size_(size), bytes_(size + 2 * kCanaryBytes + kAlignment, kCanary) {
    const auto address = reinterpret_cast<uintptr_t>(bytes_.data()) + kCanaryBytes;
    offset_ = kCanaryBytes + (kAlignment - address % kAlignment) % kAlignment;
    std::memset(data(), static_cast<int>(fill), size_);
  }

  std::byte* data() { return bytes_.data() + offset_; }
  const std::byte* data() const { return bytes_.data() + offset_; }
  size_t size() const { return size_; }
  // With the canaries.
  std::span<std::byte> all() { return std::as_writable_bytes(std::span(bytes_)); }

  bool Intact() const {
    const auto canary = [](std::byte byte) { return byte == kCanary; };
    return std::all_of(bytes_.data(), data(), canary) &&
           std::all_of(data() + size_, bytes_.data() + bytes_.size(), canary);
  }

 private:
  static constexpr size_t kAlignment = 64;
  size_t size_;
  std::vector<std::byte> bytes_;
  size_t offset_ = 0;
};

// Bytes of the host where a device's kernels can use them: there, or as a copy in its memory.
class Placed {
 public:
  static absl::StatusOr<Placed> Put(Device& device, std::span<std::byte> host) {
    Placed placed(device, host);
    if (device.uses_host_memory() || host.empty()) return placed;
    OPSERVE_ASSIGN_OR_RETURN(placed.lease_, device.memory().Acquire(host.size()));
    OPSERVE_RETURN_IF_ERROR(device.Upload(placed.region(), Fragments(host)));
    return placed;
  }

  // Where the kernel finds what the host has at `at`, one of its bytes.
  std::byte* Find(const std::byte* at) {
    return (lease_.size() > 0 ? lease_.data() : host_.data()) + (at - host_.data());
  }
  absl::Status Fetch() {
    return lease_.size() > 0 ? device_->Download(region(), 0, host_) : absl::OkStatus();
  }

 private:
  Placed(Device& device, std::span<std::byte> host) : device_(&device), host_(host) {}
  MemoryRegion region() {
    return {.start = lease_.data(), .row_bytes = static_cast<int64_t>(host_.size())};
  }

  Device* device_;
  std::span<std::byte> host_;
  PooledBuffer lease_;
};

absl::StatusOr<std::vector<Placed>> PutAll(Device& device, std::span<Guarded> all) {
  std::vector<Placed> placed;
  placed.reserve(all.size());
  for (Guarded& one : all) {
    OPSERVE_ASSIGN_OR_RETURN(Placed put, Placed::Put(device, one.all()));
    placed.push_back(std::move(put));
  }
  return placed;
}

absl::StatusOr<std::vector<Placed>> PutInputs(Device& device, const OpCase& op_case) {
  std::vector<Placed> placed;
  for (const std::optional<TestTensor>& input : op_case.inputs) {
    std::span<const std::byte> bytes;
    if (input.has_value()) bytes = input->bytes();
    // Inputs are not written.
    OPSERVE_ASSIGN_OR_RETURN(
        Placed put, Placed::Put(device, {const_cast<std::byte*>(bytes.data()), bytes.size()}));
    placed.push_back(std::move(put));
  }
  return placed;
}

// What a strided output's storage should be after the call: its elements as they came, all else as
// it was.
void ExpectGapsUntouched(const TensorDesc& desc, const Guarded& before, const Guarded& after) {
  std::vector<bool> element(after.size(), false);
  const size_t size = DTypeSize(desc.dtype);
  for (int64_t i = 0; i < desc.num_elements(); ++i) {
    const auto at =
        static_cast<size_t>(desc.storage_offset + OffsetOf(desc.shape, desc.strides, i)) * size;
    std::fill_n(element.begin() + static_cast<std::ptrdiff_t>(at), size, true);
  }
  for (size_t i = 0; i < after.size(); ++i) {
    if (element[i]) continue;
    ASSERT_EQ(after.data()[i], before.data()[i]) << "byte " << i << " between the elements changed";
  }
}

std::vector<TestTensor> Collect(const OpCall& call, std::span<const Guarded> before,
                                std::span<const Guarded> storages) {
  std::vector<TestTensor> tensors;
  for (size_t i = 0; i < storages.size(); ++i) {
    EXPECT_TRUE(storages[i].Intact()) << "the kernel wrote beyond output " << i;
    if (call.outputs[i].wanted) ExpectGapsUntouched(call.outputs[i].desc, before[i], storages[i]);
    TestTensor& tensor = tensors.emplace_back(call.outputs[i].desc);
    if (storages[i].size() > 0) std::memcpy(tensor.data(), storages[i].data(), storages[i].size());
  }
  return tensors;
}

}  // namespace

std::unique_ptr<Engine> MakeEngine(int threads, Profile profile) {
  EngineOptions options;
  options.devices = {DeviceSpec{.kind = "cpu", .threads = threads, .profile = profile}};
  if (OnNpu()) {
    options.devices[0].kind = "ascend";
    options.devices[0].ids = {0};
    options.ascend_library_paths = {StandInFolder()};
  }
  absl::StatusOr<std::unique_ptr<Engine>> engine = Engine::Create(options);
  EXPECT_TRUE(engine.ok()) << engine.status();
  return *std::move(engine);
}

absl::StatusOr<Outputs> SubmitAndWait(Engine& engine, OneShot shot) {
  std::promise<absl::StatusOr<Outputs>> promise;
  shot.done = [&promise](absl::StatusOr<Outputs> outputs) {
    promise.set_value(std::move(outputs));
  };
  engine.Submit(std::move(shot));
  return promise.get_future().get();
}

absl::StatusOr<std::vector<TestTensor>> Run(Engine& engine, const OpCase& op_case) {
  const NamedCall named = ToNamedCall(op_case);
  OneShot shot;
  OPSERVE_ASSIGN_OR_RETURN(shot.plan, engine.MakePlan(named));
  for (const std::optional<TestTensor>& input : op_case.inputs) {
    shot.storages.push_back(input.has_value() ? Fragments(input->bytes()) : Fragments());
  }
  OPSERVE_ASSIGN_OR_RETURN(const Outputs outputs, SubmitAndWait(engine, std::move(shot)));
  std::vector<TestTensor> tensors;
  for (const OutputTensor& output : outputs) {
    TestTensor& tensor = tensors.emplace_back(output.desc);
    if (output.bytes.size() > 0)
      std::memcpy(tensor.data(), output.bytes.data(), output.bytes.size());
  }
  return tensors;
}

absl::StatusOr<OpCall> BindCase(const OpCase& op_case, Profile profile) {
  OPSERVE_ASSIGN_OR_RETURN(BoundCall bound, BindCall(ToNamedCall(op_case), *op_case.op, profile));
  return std::move(bound.call);
}

absl::StatusOr<OpCall> PlanCase(const OpCase& op_case, Profile profile) {
  OPSERVE_ASSIGN_OR_RETURN(OpCall call, BindCase(op_case, profile));
  OPSERVE_RETURN_IF_ERROR(PlanCall(call));
  return call;
}

absl::StatusOr<std::vector<TestTensor>> RunKernel(Device& device, const OpCall& call,
                                                  const OpCase& op_case, std::byte dirt) {
  const Kernel& kernel = *device.FindKernel(*call.op);
  std::vector<Guarded> storages;
  for (const OutputSlot& slot : call.outputs)
    storages.emplace_back(slot.wanted ? static_cast<size_t>(slot.desc.reach_bytes()) : 0, dirt);
  const std::vector<Guarded> before = storages;
  Guarded workspace(kernel.workspace_bytes(call), dirt);
  OPSERVE_ASSIGN_OR_RETURN(std::vector<Placed> placed_inputs, PutInputs(device, op_case));
  OPSERVE_ASSIGN_OR_RETURN(std::vector<Placed> placed_outputs, PutAll(device, storages));
  OPSERVE_ASSIGN_OR_RETURN(Placed placed_workspace, Placed::Put(device, workspace.all()));
  std::byte* const scratch = placed_workspace.Find(workspace.data());
  std::vector<const std::byte*> inputs;
  for (size_t i = 0; i < op_case.inputs.size(); ++i) {
    const std::optional<TestTensor>& input = op_case.inputs[i];
    // An empty tensor has an address too.
    inputs.push_back(!input.has_value()       ? nullptr
                     : input->bytes().empty() ? scratch
                                              : placed_inputs[i].Find(input->bytes().data()));
  }
  std::vector<std::byte*> outputs;
  for (size_t i = 0; i < storages.size(); ++i)
    outputs.push_back(call.outputs[i].wanted ? placed_outputs[i].Find(storages[i].data())
                                             : nullptr);
  const Workers workers(device.workers());
  OPSERVE_RETURN_IF_ERROR(device.Execute(kernel, {.call = call,
                                                  .inputs = inputs,
                                                  .outputs = outputs,
                                                  .workspace = {scratch, workspace.size()},
                                                  .workers = workers}));
  OPSERVE_RETURN_IF_ERROR(placed_workspace.Fetch());
  for (Placed& output : placed_outputs) OPSERVE_RETURN_IF_ERROR(output.Fetch());
  EXPECT_TRUE(workspace.Intact()) << "the kernel wrote beyond its workspace";
  return Collect(call, before, storages);
}

}  // namespace opserve::testing
