#include "tests/support/unreadable_device.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <iterator>
#include <memory>
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
  return MakeError({.reason = ErrorReason::kInternal,
                    .op = {},
                    .parameter = std::string(what),
                    .want = "an address of the device's memory",
                    .got = "another"});
}

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

absl::Status UnreadableMemory::Clear(std::byte* data, size_t bytes) {
  std::byte* real = Real(data, static_cast<int64_t>(bytes));
  if (real == nullptr) return NotTheDevices("data");
  std::memset(real, 0, bytes);
  return absl::OkStatus();
}

std::byte* UnreadableMemory::Real(const std::byte* address, int64_t bytes) const {
  const auto at = reinterpret_cast<uintptr_t>(address);
  const auto start = reinterpret_cast<uintptr_t>(shown_);
  if (at < start || at > start + bytes_ || bytes < 0) return nullptr;
  if (static_cast<size_t>(bytes) > start + bytes_ - at) return nullptr;
  return real_ + (at - start);
}

UnreadableDevice::UnreadableDevice(const std::string& name, int threads, int64_t memory_bytes,
                                   const Clock& clock)
    : info_({.name = name,
             .kind = "unreadable",
             .description = "memory that the host cannot follow",
             .profile = Profile::kHost,
             .threads = threads}),
      bytes_(static_cast<size_t>(memory_bytes)),
      memory_(memory_bytes, bytes_, clock),
      host_memory_(memory_bytes, MemorySource::Host(), clock),
      workers_(threads) {}

const Kernel* UnreadableDevice::FindKernel(const Operator& op) const {
  static const std::unique_ptr<Device> cpu =
      cpu::MakeCpuDevice({.name = "cpu", .threads = 1, .memory_limit_bytes = 1}, Clock::Real());
  return cpu->FindKernel(op);
}

absl::StatusOr<MemoryRange> UnreadableDevice::Real(const MemoryRange& region) const {
  if (region.size_bytes() == 0) return region;
  MemoryRange real = region;
  real.start =
      bytes_.Real(region.start, (region.rows - 1) * region.stride_bytes + region.row_bytes);
  if (real.start == nullptr) return NotTheDevices("region");
  return real;
}

absl::Status UnreadableDevice::Upload(const MemoryRange& to, const Fragments& from,
                                      const Workers& workers) {
  OPSERVE_ASSIGN_OR_RETURN(const MemoryRange real, Real(to));
  return cpu::Upload(real, from, workers);
}

absl::Status UnreadableDevice::Download(const MemoryRange& from, int64_t offset_bytes,
                                        std::span<std::byte> to, const Workers& workers) {
  OPSERVE_ASSIGN_OR_RETURN(const MemoryRange real, Real(from));
  return cpu::Download(real, offset_bytes, to, workers);
}

absl::Status UnreadableDevice::Copy(const MemoryRange& from, const MemoryRange& to,
                                    const Workers& workers) {
  OPSERVE_ASSIGN_OR_RETURN(const MemoryRange real_from, Real(from));
  OPSERVE_ASSIGN_OR_RETURN(const MemoryRange real_to, Real(to));
  return cpu::Copy(real_from, real_to, workers);
}

absl::Status UnreadableDevice::Fill(const MemoryRange& to, std::span<const std::byte> pattern,
                                    const Workers& workers) {
  OPSERVE_ASSIGN_OR_RETURN(const MemoryRange real, Real(to));
  return cpu::Fill(real, pattern, workers);
}

absl::Status UnreadableDevice::Execute(const Kernel& kernel, const KernelArgs& args) {
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
  std::byte* control = real(args.control.data(), static_cast<int64_t>(args.control.size()));
  if (control == nullptr && !args.control.empty()) return NotTheDevices("control memory");
  return kernel.execute({.call = args.call,
                         .inputs = inputs,
                         .outputs = outputs,
                         .workspace = {workspace, args.workspace.size()},
                         .control = {control, args.control.size()},
                         .workers = args.workers,
                         .range = args.range,
                         .windowed = args.windowed});
}

}  // namespace opserve::testing
