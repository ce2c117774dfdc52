#include "tests/support/manual_device.h"

#include <sys/mman.h>
#include <unistd.h>

#include <iterator>
#include <utility>
#include <vector>

#include "core/backends/cpu/cpu_device.h"
#include "core/backends/cpu/transfers.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "gtest/gtest.h"

namespace opserve::testing {
namespace {

constexpr size_t kAlignment = 64;

absl::Status NotTheDevices(std::string_view what) {
  return MakeError({.reason = ErrorReason::kInner,
                    .op = {},
                    .parameter = std::string(what),
                    .want = "an address of the device's memory",
                    .got = "another"});
}

const Kernel& CpuKernel(const Operator& op) {
  static const std::unique_ptr<Device> cpu =
      cpu::MakeCpuDevice({.name = "cpu", .threads = 1, .memory_limit_bytes = 1}, Clock::Real());
  return *cpu->FindKernel(op);
}

// Kernels are functions without a device: its workers tell which it is.
class LiveDevices {
 public:
  static LiveDevices& Get() {
    static LiveDevices devices;
    return devices;
  }
  void Add(const WorkerPool* workers, ManualDevice* device) {
    MutexLock lock(mutex_);
    devices_[workers] = device;
  }
  void Remove(const WorkerPool* workers) {
    MutexLock lock(mutex_);
    devices_.erase(workers);
  }
  ManualDevice* Find(const WorkerPool* workers) {
    MutexLock lock(mutex_);
    const auto found = devices_.find(workers);
    return found == devices_.end() ? nullptr : found->second;
  }

 private:
  Mutex mutex_;
  std::map<const WorkerPool*, ManualDevice*> devices_ ABSL_GUARDED_BY(mutex_);
};

size_t WorkspaceBytes(const OpCall& call) { return CpuKernel(*call.op).workspace_bytes(call); }

absl::Status Execute(const KernelArgs& args) {
  ManualDevice* device = LiveDevices::Get().Find(&args.workers.pool());
  return device == nullptr ? NotTheDevices("workers") : device->RunKernel(args);
}

constexpr Kernel kKernel = {WorkspaceBytes, Execute};

// Bytes of a tensor's storage that a kernel may touch.
int64_t Touched(const TensorDesc& desc, bool windowed, ElementRange range) {
  if (!windowed || range.count < 0) return desc.reach_bytes();
  return range.count * static_cast<int64_t>(DTypeSize(desc.dtype));
}

}  // namespace

UnreadableMemory::UnreadableMemory(size_t bytes) : bytes_(bytes), free_({{0, bytes}}) {
  const int file = ::memfd_create("device", MFD_CLOEXEC);
  EXPECT_EQ(::ftruncate(file, static_cast<off_t>(bytes)), 0);
  void* shown = ::mmap(nullptr, bytes, PROT_NONE, MAP_SHARED, file, 0);
  void* real = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  EXPECT_TRUE(shown != MAP_FAILED && real != MAP_FAILED);
  ::close(file);
  shown_ = static_cast<std::byte*>(shown);
  real_ = static_cast<std::byte*>(real);
}

UnreadableMemory::~UnreadableMemory() {
  ::munmap(shown_, bytes_);
  ::munmap(real_, bytes_);
}

std::byte* UnreadableMemory::Allocate(size_t bytes) {
  const size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  MutexLock lock(mutex_);
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    const auto [offset, size] = *range;
    if (size < rounded) continue;
    free_.erase(range);
    if (size > rounded) free_[offset + rounded] = size - rounded;
    return shown_ + offset;
  }
  return nullptr;
}

void UnreadableMemory::Free(std::byte* data, size_t bytes) {
  const size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  MutexLock lock(mutex_);
  auto range = free_.emplace(static_cast<size_t>(data - shown_), rounded).first;
  const auto next = std::next(range);
  if (next != free_.end() && range->first + range->second == next->first) {
    range->second += next->second;
    free_.erase(next);
  }
  if (range == free_.begin()) return;
  const auto before = std::prev(range);
  if (before->first + before->second != range->first) return;
  before->second += range->second;
  free_.erase(range);
}

std::byte* UnreadableMemory::Real(const std::byte* address, int64_t bytes) const {
  const auto at = reinterpret_cast<uintptr_t>(address);
  const auto start = reinterpret_cast<uintptr_t>(shown_);
  if (at < start || at > start + bytes_ || bytes < 0) return nullptr;
  if (static_cast<size_t>(bytes) > start + bytes_ - at) return nullptr;
  return real_ + (at - start);
}

ManualDevice::ManualDevice(const Options& options, const Clock& clock)
    : info_({.name = options.name,
             .kind = "manual",
             .description = "a device that tests hold and let go",
             .profile = Profile::kHost,
             .threads = options.threads}),
      concatenation_(options.concatenation),
      bytes_(static_cast<size_t>(options.memory_bytes)),
      memory_(options.memory_bytes, bytes_, clock),
      host_memory_(options.memory_bytes, MemorySource::Host(), clock),
      workers_(std::make_unique<WorkerPool>(options.threads)) {
  LiveDevices::Get().Add(workers_.get(), this);
}

ManualDevice::~ManualDevice() {
  {
    MutexLock lock(mutex_);
    for (Gate& gate : gates_) gate.held = false;
  }
  changed_.NotifyAll();
  const WorkerPool* workers = workers_.get();
  workers_.reset();
  LiveDevices::Get().Remove(workers);
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
  return MakeError({.reason = ErrorReason::kRuntimeError,
                    .op = {},
                    .parameter = "device",
                    .want = "a device that works",
                    .got = "one that the test broke"});
}

const Kernel* ManualDevice::FindKernel(const Operator& /*op*/) const { return &kKernel; }

absl::StatusOr<MemoryRegion> ManualDevice::Real(const MemoryRegion& region) const {
  if (region.size_bytes() == 0) return region;
  MemoryRegion real = region;
  real.start =
      bytes_.Real(region.start, (region.rows - 1) * region.stride_bytes + region.row_bytes);
  if (real.start == nullptr) return NotTheDevices("region");
  return real;
}

absl::Status ManualDevice::Upload(const MemoryRegion& to, const Fragments& from) {
  OPSERVE_RETURN_IF_ERROR(Pass(Work::kUpload));
  OPSERVE_ASSIGN_OR_RETURN(const MemoryRegion real, Real(to));
  return cpu::Upload(real, from, *workers_);
}

absl::Status ManualDevice::Download(const MemoryRegion& from, int64_t offset_bytes,
                                    std::span<std::byte> to) {
  OPSERVE_RETURN_IF_ERROR(Pass(Work::kDownload));
  OPSERVE_ASSIGN_OR_RETURN(const MemoryRegion real, Real(from));
  return cpu::Download(real, offset_bytes, to, *workers_);
}

absl::Status ManualDevice::Copy(const MemoryRegion& from, const MemoryRegion& to) {
  OPSERVE_RETURN_IF_ERROR(Pass(Work::kCopy));
  OPSERVE_ASSIGN_OR_RETURN(const MemoryRegion real_from, Real(from));
  OPSERVE_ASSIGN_OR_RETURN(const MemoryRegion real_to, Real(to));
  return cpu::Copy(real_from, real_to, *workers_);
}

absl::Status ManualDevice::Fill(const MemoryRegion& to, std::span<const std::byte> pattern) {
  OPSERVE_RETURN_IF_ERROR(Pass(Work::kFill));
  OPSERVE_ASSIGN_OR_RETURN(const MemoryRegion real, Real(to));
  return cpu::Fill(real, pattern, *workers_);
}

absl::Status ManualDevice::RunKernel(const KernelArgs& args) {
  OPSERVE_RETURN_IF_ERROR(Pass(Work::kKernel));
  const Operator& op = *args.call.op;
  // Addresses of empty tensors are nobody's: they are not followed.
  const auto real = [this](const std::byte* start, int64_t bytes) {
    return start == nullptr || bytes == 0 ? const_cast<std::byte*>(start)
                                          : bytes_.Real(start, bytes);
  };
  std::vector<const std::byte*> inputs;
  for (size_t i = 0; i < args.inputs.size(); ++i) {
    const bool windowed = i < args.windowed.size() && args.windowed[i];
    const int64_t bytes =
        args.call.inputs[i].has_value() ? Touched(*args.call.inputs[i], windowed, args.range) : 0;
    inputs.push_back(real(args.inputs[i], bytes));
    if (args.inputs[i] != nullptr && inputs[i] == nullptr) return NotTheDevices(op.inputs[i].name);
  }
  std::vector<std::byte*> outputs;
  for (size_t i = 0; i < args.outputs.size(); ++i) {
    outputs.push_back(real(args.outputs[i], Touched(args.call.outputs[i].desc, true, args.range)));
    if (args.outputs[i] != nullptr && outputs[i] == nullptr)
      return NotTheDevices(op.outputs[i].name);
  }
  std::byte* workspace = real(args.workspace.data(), static_cast<int64_t>(args.workspace.size()));
  if (workspace == nullptr && !args.workspace.empty()) return NotTheDevices("workspace");
  return CpuKernel(op).execute({.call = args.call,
                                .inputs = inputs,
                                .outputs = outputs,
                                .workspace = {workspace, args.workspace.size()},
                                .workers = args.workers,
                                .range = args.range,
                                .windowed = args.windowed});
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
