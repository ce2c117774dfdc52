#include "core/backends/ascend/ascend_device.h"

#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/backends/ascend/call_objects.h"
#include "core/backends/ascend/memory.h"
#include "core/backends/ascend/npu.h"
#include "core/backends/ascend/operators.h"
#include "core/backends/ascend/transfers.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/op/infer_checks.h"
#include "core/op/op_table.h"

namespace opserve::ascend {
namespace {

constexpr int kDefaultThreads = 4;
constexpr size_t kNothingBytes = 64;

size_t NoWorkspace(const OpCall& /*call*/) { return 0; }

absl::Status ExecuteWithoutDevice(const KernelArgs& /*args*/) {
  return MakeError({.reason = ErrorReason::kInternal,
                    .op = {},
                    .parameter = "kernel",
                    .want = "Device::Execute",
                    .got = "the kernel alone"});
}

constexpr Kernel kKernel = {.workspace_bytes = NoWorkspace, .execute = ExecuteWithoutDevice};

// The gradient of a mean has a factor 1/n, of the launch's n.
bool IsOfElements(const OpCall& call) {
  for (size_t i = 0; i < call.op->attributes.size(); ++i) {
    if (call.op->attributes[i].name != "reduction") continue;
    const Reduction reduction = ReductionOf(call, static_cast<int>(i));
    return reduction == Reduction::kNone || reduction == Reduction::kSum;
  }
  return true;
}

// Small calls that wait go as one launch. The bounds are guesses: there was no NPU to measure with.
constexpr Concatenation kConcatenation = {
    .is_of_elements = IsOfElements, .max_calls = 64, .max_bytes = int64_t{1} << 20};

class AscendDevice final : public Device {
 public:
  AscendDevice(DeviceInfo info, std::unique_ptr<Npu> npu, const AscendDeviceOptions& options,
               const Clock& clock)
      : info_(std::move(info)),
        npu_(std::move(npu)),
        device_memory_(*npu_),
        pinned_memory_(*npu_),
        memory_(options.memory_limit_bytes, device_memory_, clock, options.client_share),
        host_memory_(options.memory_limit_bytes, pinned_memory_, clock, options.client_share),
        workers_(info_.threads) {
    for (const Operator* op : AllOperators())
      operators_.push_back(npu_->library().FindOperator(op->name));
  }

  const DeviceInfo& info() const override { return info_; }
  absl::Status health() const override { return npu_->health(); }
  const Kernel* FindKernel(const Operator& op) const override {
    return operators_[OperatorIndex(op)].has_value() ? &kKernel : nullptr;
  }
  WorkerPool& workers() override { return workers_; }
  const Concatenation* concatenation() const override { return &kConcatenation; }
  MemoryPool& memory() override { return memory_; }
  MemoryPool& host_memory() override { return host_memory_; }

  using Device::Copy;
  using Device::Download;
  using Device::Fill;
  using Device::Upload;
  absl::Status Upload(const MemoryRange& to, const Fragments& from,
                      const Workers& workers) override {
    return ascend::Upload(*npu_, to, from, workers);
  }
  absl::Status Download(const MemoryRange& from, int64_t offset_bytes, std::span<std::byte> to,
                        const Workers& workers) override {
    return ascend::Download(*npu_, from, offset_bytes, to, workers);
  }
  absl::Status Copy(const MemoryRange& from, const MemoryRange& to,
                    const Workers& workers) override {
    return ascend::Copy(*npu_, from, to, workers);
  }
  absl::Status Fill(const MemoryRange& to, std::span<const std::byte> pattern,
                    const Workers& workers) override {
    return ascend::Fill(*npu_, to, pattern, workers);
  }

  absl::Status Execute(const Kernel& /*kernel*/, const KernelArgs& args) override {
    OPSERVE_RETURN_IF_ERROR(npu_->Enter());
    OPSERVE_ASSIGN_OR_RETURN(const PooledBuffer nothing, memory_.Acquire(kNothingBytes));
    CallObjects objects(*npu_);
    OPSERVE_RETURN_IF_ERROR(objects.Make(args, nothing.data()));
    const Operator& op = *args.call.op;
    const AclOperator& functions = *operators_[OperatorIndex(op)];
    uint64_t bytes = 0;
    AclExecutor* executor = nullptr;
    const int32_t planned = PhaseOneOf(op)(functions.plan, objects, &bytes, &executor);
    OPSERVE_RETURN_IF_ERROR(
        npu_->Check(planned, absl::StrCat("aclnn", std::string(op.name), "GetWorkspaceSize")));
    absl::StatusOr<PooledBuffer> workspace = memory_.Acquire(bytes);
    absl::StatusOr<void*> stream = workspace.ok() ? npu_->BorrowStream() : workspace.status();
    if (!stream.ok()) {
      npu_->acl().destroy_executor(executor);
      return stream.status();
    }
    const int32_t begun = functions.execute(workspace->data(), bytes, executor, *stream);
    absl::Status status = npu_->Check(begun, absl::StrCat("aclnn", std::string(op.name)));
    if (status.ok()) return npu_->FinishStream(*stream);
    npu_->DropStream(*stream);
    return status;
  }

 private:
  const DeviceInfo info_;
  // Each uses those above it.
  const std::unique_ptr<Npu> npu_;
  std::vector<std::optional<AclOperator>> operators_;  // in the order of AllOperators
  DeviceMemory device_memory_;
  PinnedMemory pinned_memory_;
  MemoryPool memory_;
  MemoryPool host_memory_;
  WorkerPool workers_;
};

}  // namespace

absl::StatusOr<int32_t> CountDevices(const AclLibrary& library) {
  uint32_t count = 0;
  const int32_t code = library.functions().device_count(&count);
  if (code == 0) return static_cast<int32_t>(count);
  const char* message = library.functions().recent_message();
  return MakeError({.reason = ErrorReason::kDeviceError,
                    .op = {},
                    .parameter = "ascend",
                    .want = "aclrtGetDeviceCount to succeed",
                    .got = absl::StrCat(code, " ", message == nullptr ? "" : message)});
}

absl::StatusOr<std::unique_ptr<Device>> MakeAscendDevice(std::shared_ptr<const AclLibrary> library,
                                                         const AscendDeviceOptions& options,
                                                         const Clock& clock) {
  DeviceInfo info;
  info.name = absl::StrCat("ascend:", options.id);
  info.kind = "ascend";
  info.profile = options.profile;
  info.threads = options.threads > 0 ? options.threads : kDefaultThreads;
  OPSERVE_ASSIGN_OR_RETURN(
      std::unique_ptr<Npu> npu,
      Npu::Open(std::move(library), options.id, info.name, options.synchronize_timeout));
  const char* soc = npu->acl().soc_name();
  info.description =
      absl::StrCat(soc == nullptr ? "an NPU of unknown kind" : soc, ", ", info.threads,
                   info.threads == 1 ? " thread waits for it" : " threads wait for it");
  return std::unique_ptr<Device>(
      std::make_unique<AscendDevice>(std::move(info), std::move(npu), options, clock));
}

namespace {

constexpr int kMaxId = 1023;

// "", "2", "0-3".
absl::Status ReadSpec(const DeviceText& text, DeviceSpec& spec) {
  OPSERVE_RETURN_IF_ERROR(ReadCommonOptions(text, spec));
  if (!text.has_number) return absl::OkStatus();
  const std::vector<std::string> ends = absl::StrSplit(text.number, absl::MaxSplits('-', 1));
  int first = 0;
  int last = 0;
  if (!absl::SimpleAtoi(ends.front(), &first) || !absl::SimpleAtoi(ends.back(), &last) ||
      first < 0 || last < first || last > kMaxId) {
    return BadDeviceText("device: ascend", absl::StrCat("N, or N-M, from 0 to ", kMaxId),
                         text.number);
  }
  for (int id = first; id <= last; ++id) spec.ids.push_back(id);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int>> IdsOf(const DeviceSpec& spec, const AclLibrary& library) {
  if (!spec.ids.empty()) return spec.ids;
  OPSERVE_ASSIGN_OR_RETURN(const int32_t count, CountDevices(library));
  if (count == 0) return InvalidParameter("device", "an NPU that the runtime sees", "none");
  std::vector<int> ids;
  ids.reserve(static_cast<size_t>(count));
  for (int id = 0; id < count; ++id) ids.push_back(id);
  return ids;
}

absl::StatusOr<std::vector<MakeDevice>> FindDevices(const DeviceSpec& spec, int /*number*/,
                                                    const std::vector<std::string>& library_paths) {
  OPSERVE_ASSIGN_OR_RETURN(const std::shared_ptr<const AclLibrary> library,
                           AclLibrary::Open(library_paths));
  OPSERVE_ASSIGN_OR_RETURN(const std::vector<int> ids, IdsOf(spec, *library));
  std::vector<MakeDevice> devices;
  for (const int id : ids) {
    const AscendDeviceOptions options = {
        .id = id, .threads = spec.threads, .profile = spec.profile};
    devices.emplace_back([library, options](const DeviceLimits& limits, const Clock& clock) {
      AscendDeviceOptions limited = options;
      limited.memory_limit_bytes = limits.memory_limit_bytes;
      limited.client_share = limits.client_share;
      return MakeAscendDevice(library, limited, clock);
    });
  }
  return devices;
}

}  // namespace

extern constinit const Backend kAscendBackend = {.kind = "ascend",
                                                 .usage = "ascend[:ID][,threads=N][,profile=P]",
                                                 .read = ReadSpec,
                                                 .find = FindDevices};

}  // namespace opserve::ascend
