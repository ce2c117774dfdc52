#include "tests/support/run.h"

#include <algorithm>
#include <cstring>
#include <future>
#include <span>

#include "core/base/status_macros.h"
#include "core/op/op_table.h"
#include "gtest/gtest.h"
#include "tests/support/errors.h"
#include "tests/support/stand_in.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

constexpr size_t kCanaryBytes = 256;
constexpr std::byte kCanary{0xC5};

// Memory between canaries.
class Guarded {
 public:
  // `shift` bytes beyond a multiple of 64.
  Guarded(size_t size, std::span<const std::byte> fill, size_t shift = 0)
      : size_(size), bytes_(size + 2 * kCanaryBytes + 2 * kAlignment, kCanary) {
    const auto address = reinterpret_cast<uintptr_t>(bytes_.data()) + kCanaryBytes;
    offset_ = kCanaryBytes + (kAlignment - address % kAlignment) % kAlignment + shift;
    Repeat(fill, {data(), size_});
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
  MemoryRange region() {
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

// All that a kernel works on, on the host.
struct KernelMemory {
  KernelMemory(const Device& device, const OpCall& call, const OpCase& op_case,
               const KernelTrial& trial)
      : workspace(device.FindKernel(*call.op)->workspace_bytes(call), trial.scratch),
        control(ControlBytes(*device.FindKernel(*call.op), call), trial.scratch) {
    for (const std::optional<TestTensor>& input : op_case.inputs) {
      const auto bytes = input.has_value() ? input->bytes() : std::vector<std::byte>();
      inputs.emplace_back(bytes.size(), bytes, kInputShift);
    }
    for (const OutputSlot& slot : call.outputs) {
      const int64_t bytes = slot.wanted ? slot.desc.reach_bytes() : 0;
      outputs.emplace_back(static_cast<size_t>(bytes), trial.outputs);
    }
  }

  absl::Status Execute(Device& device, const OpCall& call, const KernelTrial& trial) {
    if (call.makes_nothing()) return absl::OkStatus();
    OPSERVE_ASSIGN_OR_RETURN(std::vector<Placed> placed_inputs, PutAll(device, inputs));
    OPSERVE_ASSIGN_OR_RETURN(std::vector<Placed> placed_outputs, PutAll(device, outputs));
    OPSERVE_ASSIGN_OR_RETURN(Placed placed_workspace, Placed::Put(device, workspace.all()));
    OPSERVE_ASSIGN_OR_RETURN(Placed placed_control, Placed::Put(device, control.all()));
    std::vector<const std::byte*> ins;
    for (size_t i = 0; i < inputs.size(); ++i)
      ins.push_back(call.inputs[i].has_value() ? placed_inputs[i].Find(inputs[i].data()) : nullptr);
    std::vector<std::byte*> outs;
    for (size_t i = 0; i < outputs.size(); ++i)
      outs.push_back(call.outputs[i].wanted ? placed_outputs[i].Find(outputs[i].data()) : nullptr);
    const ClientMemory clients = Clients();
    const auto stop = [&] { return trial.stop(clients); };
    const Workers workers(device.workers(), stop);
    OPSERVE_RETURN_IF_ERROR(
        device.Execute(*device.FindKernel(*call.op),
                       {.call = call,
                        .inputs = ins,
                        .outputs = outs,
                        .workspace = {placed_workspace.Find(workspace.data()), workspace.size()},
                        .control = {placed_control.Find(control.data()), control.size()},
                        .workers = workers}));
    for (std::vector<Placed>* all : {&placed_inputs, &placed_outputs}) {
      for (Placed& placed : *all) OPSERVE_RETURN_IF_ERROR(placed.Fetch());
    }
    OPSERVE_RETURN_IF_ERROR(placed_workspace.Fetch());
    return placed_control.Fetch();
  }

  ClientMemory Clients() {
    ClientMemory clients;
    for (Guarded& input : inputs) clients.inputs.emplace_back(input.data(), input.size());
    clients.workspace = {workspace.data(), workspace.size()};
    return clients;
  }

  void ExpectIntact() const {
    EXPECT_TRUE(workspace.Intact()) << "the kernel wrote beyond its workspace";
    EXPECT_TRUE(control.Intact()) << "the kernel wrote beyond its control memory";
    for (size_t i = 0; i < inputs.size(); ++i)
      EXPECT_TRUE(inputs[i].Intact()) << "the kernel wrote around input " << i;
  }

  // Of inputs, from a multiple of 64: kernels want them aligned to their elements only.
  static constexpr size_t kInputShift = 16;

  std::vector<Guarded> inputs;
  std::vector<Guarded> outputs;
  Guarded workspace;
  Guarded control;
};

// What a strided output's storage should be after the call: its elements as they came, all else as
// it was.
void ExpectGapsUntouched(const TensorDesc& desc, const Guarded& before, const Guarded& after) {
  if (desc.IsPlain()) return;  // it has no gaps
  // What they would be if the elements had not changed either.
  std::vector<std::byte> gaps(after.data(), after.data() + after.size());
  const size_t size = DTypeSize(desc.dtype);
  ForEachOffset(desc.shape, desc.strides, [&](int64_t offset) {
    const size_t at = static_cast<size_t>(desc.storage_offset + offset) * size;
    std::memcpy(gaps.data() + at, before.data() + at, size);
  });
  const auto [changed, was] = std::mismatch(gaps.begin(), gaps.end(), before.data());
  EXPECT_EQ(changed, gaps.end()) << "byte " << changed - gaps.begin()
                                 << " between the elements changed";
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

void Repeat(std::span<const std::byte> pattern, std::span<std::byte> memory) {
  if (pattern.empty()) return;
  size_t done = std::min(pattern.size(), memory.size());
  std::copy_n(pattern.begin(), done, memory.begin());
  // Whole patterns, twice as many each time.
  while (done < memory.size()) {
    const size_t more = std::min(done, memory.size() - done);
    std::memcpy(memory.data() + done, memory.data(), more);
    done += more;
  }
}

std::vector<std::byte> DirtOf(uint64_t seed) {
  Rng rng(seed);
  // So many that no type's size divides it.
  std::vector<std::byte> dirt(1021);
  for (std::byte& byte : dirt) byte = static_cast<std::byte>(rng());
  return dirt;
}

std::unique_ptr<Engine> MakeEngine(int threads, Profile profile) {
  EngineOptions options;
  options.devices = {DeviceSpec{.kind = "cpu", .threads = threads, .profile = profile}};
  if (OnNpu()) {
    options.devices[0].kind = "ascend";
    options.devices[0].ids = {0};
    options.ascend_library_paths = {StandInFolder()};
  }
  absl::StatusOr<std::unique_ptr<Engine>> engine = Engine::Create(options);
  EXPECT_THAT(engine, IsOk());
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
  OPSERVE_ASSIGN_OR_RETURN(BoundCall bound, BindCall(ToNamedCall(op_case), profile));
  return std::move(bound.call);
}

absl::StatusOr<OpCall> PlanCase(const OpCase& op_case, Profile profile) {
  OPSERVE_ASSIGN_OR_RETURN(OpCall call, BindCase(op_case, profile));
  OPSERVE_RETURN_IF_ERROR(PlanCall(call));
  return call;
}

void ExpectInvalid(const OpCase& op_case, std::string_view parameter, Profile profile) {
  ExpectError(PlanCase(op_case, profile).status(), kParamInvalid, parameter);
}

absl::StatusOr<std::vector<TestTensor>> RunKernel(Device& device, const OpCall& call,
                                                  const OpCase& op_case, const KernelTrial& trial) {
  KernelMemory memory(device, call, op_case, trial);
  const std::vector<Guarded> before = memory.outputs;
  OPSERVE_RETURN_IF_ERROR(memory.Execute(device, call, trial));
  memory.ExpectIntact();
  return Collect(call, before, memory.outputs);
}

absl::StatusOr<std::vector<TestTensor>> RunKernel(Device& device, const OpCall& call,
                                                  const OpCase& op_case, std::byte dirt) {
  return RunKernel(device, call, op_case, KernelTrial{.outputs = {dirt}, .scratch = {dirt}});
}

}  // namespace opserve::testing
