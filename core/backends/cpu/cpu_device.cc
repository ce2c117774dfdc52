#include "core/backends/cpu/cpu_device.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/backends/cpu/simd.h"
#include "core/backends/cpu/transfers.h"
#include "core/base/status_macros.h"
#include "core/base/usable_cores.h"
#include "core/op/op_table.h"
#include "core/workers/thread_arena.h"
#include "hwy/targets.h"

namespace opserve::cpu {

// Each is defined in the operator's file of this folder.
#define OPSERVE_OP(file, Name) extern constinit const Kernel k##Name##Kernel;
#include "core/op/builtin_ops.inc"
#undef OPSERVE_OP

namespace {

// In the order of AllOperators.
constexpr const Kernel* kKernels[] = {
#define OPSERVE_OP(file, Name) &k##Name##Kernel,
#include "core/op/builtin_ops.inc"
#undef OPSERVE_OP
};

class CpuDevice final : public Device {
 public:
  CpuDevice(DeviceInfo info, const CpuDeviceOptions& options, const Clock& clock)
      : info_(std::move(info)),
        memory_(options.memory_limit_bytes, MemorySource::Host(), clock, options.client_share),
        workers_(info_.threads, options.numa_node) {}

  const DeviceInfo& info() const override { return info_; }
  const Kernel* FindKernel(const Operator& op) const override {
    return kKernels[OperatorIndex(op)];
  }
  bool runs_ranges() const override { return true; }
  WorkerPool& workers() override { return workers_; }
  MemoryPool& memory() override { return memory_; }
  MemoryPool& host_memory() override { return memory_; }
  bool uses_host_memory() const override { return true; }

  using Device::Copy;
  using Device::Download;
  using Device::Fill;
  using Device::Upload;
  absl::Status Upload(const MemoryRange& to, const Fragments& from,
                      const Workers& workers) override {
    return cpu::Upload(to, from, workers);
  }
  absl::Status Download(const MemoryRange& from, int64_t offset_bytes, std::span<std::byte> to,
                        const Workers& workers) override {
    return cpu::Download(from, offset_bytes, to, workers);
  }
  absl::Status Copy(const MemoryRange& from, const MemoryRange& to,
                    const Workers& workers) override {
    return cpu::Copy(from, to, workers);
  }
  absl::Status Fill(const MemoryRange& to, std::span<const std::byte> pattern,
                    const Workers& workers) override {
    return cpu::Fill(to, pattern, workers);
  }

 private:
  const DeviceInfo info_;
  MemoryPool memory_;
  WorkerPool workers_;  // last: its tasks use the rest until it is gone
};

absl::Status ReadNumaNode(const std::string& value, DeviceSpec& spec) {
  const std::vector<int> nodes = NumaNodes();
  int node = 0;
  if (absl::SimpleAtoi(value, &node) && std::count(nodes.begin(), nodes.end(), node) > 0) {
    spec.numa_node = node;
    return absl::OkStatus();
  }
  const std::string want = nodes.empty() ? "a machine whose NUMA nodes libtbbbind can tell"
                                         : absl::StrCat("one of ", absl::StrJoin(nodes, ", "));
  return BadDeviceText("device: numa-node", want, value);
}

absl::Status ReadSpec(const DeviceText& text, DeviceSpec& spec) {
  if (text.has_number) return BadDeviceText("device", kCpuBackend.usage, text.all);
  DeviceText common = text;
  common.options.clear();
  for (const auto& [key, value] : text.options) {
    if (key == "numa-node") {
      OPSERVE_RETURN_IF_ERROR(ReadNumaNode(value, spec));
    } else {
      common.options.emplace_back(key, value);
    }
  }
  return ReadCommonOptions(common, spec);
}

int DefaultThreads(std::optional<int> numa_node) {
  const int cores = UsableCores();
  return numa_node.has_value() ? std::clamp(CoresOfNumaNode(*numa_node), 1, cores) : cores;
}

absl::StatusOr<std::vector<MakeDevice>> FindDevices(
    const DeviceSpec& spec, int number, const std::vector<std::string>& /*library_paths*/) {
  const CpuDeviceOptions options = {.name = absl::StrCat("cpu:", number),
                                    .threads = spec.threads,
                                    .numa_node = spec.numa_node,
                                    .profile = spec.profile};
  return std::vector<MakeDevice>{[options](const DeviceLimits& limits, const Clock& clock) {
    CpuDeviceOptions limited = options;
    limited.memory_limit_bytes = limits.memory_limit_bytes;
    limited.client_share = limits.client_share;
    return MakeCpuDevice(limited, clock);
  }};
}

}  // namespace

extern constinit const Backend kCpuBackend = {.kind = "cpu",
                                              .usage = "cpu[,threads=N][,profile=P][,numa-node=M]",
                                              .read = ReadSpec,
                                              .find = FindDevices};

std::string SimdTargetName() {
  const int64_t targets = hwy::SupportedTargets() & HWY_TARGETS;
  return hwy::TargetName(targets & -targets);  // the lowest bit is the best target
}

std::unique_ptr<Device> MakeCpuDevice(const CpuDeviceOptions& options, const Clock& clock) {
  DeviceInfo info;
  info.name = options.name;
  info.kind = "cpu";
  info.profile = options.profile;
  info.threads = options.threads > 0 ? options.threads : DefaultThreads(options.numa_node);
  const std::string node =
      options.numa_node.has_value() ? absl::StrCat(" on NUMA node ", *options.numa_node) : "";
  info.description = absl::StrCat(info.threads, info.threads == 1 ? " thread" : " threads", node,
                                  ", ", SimdTargetName());
  return std::make_unique<CpuDevice>(std::move(info), options, clock);
}

}  // namespace opserve::cpu
