#include "core/backends/ascend/npu.h"

#include <array>
#include <atomic>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"

namespace opserve::ascend {
namespace {

constexpr int32_t kParamNullptr = 161001;
constexpr int32_t kBadAlloc = 200000;
constexpr int32_t kMemoryAllocation = 207001;
constexpr int32_t kDeviceOutOfMemory = 207018;
constexpr int32_t kStreamTimeout = 507046;
constexpr int32_t kEventTimeout = 507047;
constexpr size_t kProbeBytes = 64;

// Whose context the thread has; no device's number is 0.
thread_local uint64_t entered = 0;

uint64_t NextSerial() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

ErrorReason ReasonOf(int32_t code) {
  if (code == kParamNullptr) return ErrorReason::kMissingParameter;
  if (code / 1000 == 161) return ErrorReason::kInvalidParameter;
  const bool memory = code == kBadAlloc || code == kMemoryAllocation || code == kDeviceOutOfMemory;
  return memory ? ErrorReason::kResourceLimit : ErrorReason::kDeviceError;
}

// The first digit says whose fault it is; 1 is the caller's.
bool IsCallers(int32_t code) { return code / 100000 == 1; }

}  // namespace

absl::StatusOr<std::unique_ptr<Npu>> Npu::Open(std::shared_ptr<const AclLibrary> library,
                                               int32_t id, std::string name,
                                               absl::Duration timeout) {
  std::unique_ptr<Npu> npu(new Npu(std::move(library), std::move(name), timeout));
  OPSERVE_RETURN_IF_ERROR(npu->Start(id));
  return npu;
}

Npu::Npu(std::shared_ptr<const AclLibrary> library, std::string name, absl::Duration timeout)
    : library_(std::move(library)),
      name_(std::move(name)),
      timeout_milliseconds_(static_cast<int32_t>(absl::ToInt64Milliseconds(timeout))),
      serial_(NextSerial()) {}

absl::Status Npu::Start(int32_t id) {
  OPSERVE_RETURN_IF_ERROR(Check(acl().create_context(&context_, id), "aclrtCreateContext"));
  OPSERVE_RETURN_IF_ERROR(Enter());
  return Check(acl().malloc(&probe_, kProbeBytes, kAclMallocHugeFirst), "aclrtMalloc");
}

Npu::~Npu() {
  if (context_ == nullptr) return;
  EnterToFree();
  // Of one that does not answer, nothing is waited for.
  if (health().ok()) {
    MutexLock lock(mutex_);
    for (void* stream : streams_) acl().destroy_stream(stream);
  }
  if (probe_ != nullptr) acl().free(probe_);
  acl().destroy_context(context_);
  entered = 0;
}

absl::Status Npu::health() const {
  MutexLock lock(mutex_);
  if (quarantine_.empty()) return absl::OkStatus();
  return MakeError({.reason = ErrorReason::kDeviceLost,
                    .op = {},
                    .parameter = "device",
                    .want = "a device that works",
                    .got = quarantine_});
}

absl::Status Npu::Enter() {
  OPSERVE_RETURN_IF_ERROR(health());
  if (entered == serial_) return absl::OkStatus();
  OPSERVE_RETURN_IF_ERROR(Check(acl().set_current_context(context_), "aclrtSetCurrentContext"));
  entered = serial_;
  return absl::OkStatus();
}

void Npu::EnterToFree() {
  if (entered != serial_ && acl().set_current_context(context_) == 0) entered = serial_;
}

absl::Status Npu::Check(int32_t code, std::string_view function) {
  if (code == 0) return absl::OkStatus();
  const char* message = acl().recent_message();
  const std::string got = absl::StrCat(ToAbsl(function), " gave ", code,
                                       message == nullptr || *message == '\0' ? "" : ": ",
                                       message == nullptr ? "" : message);
  const ErrorReason reason = ReasonOf(code);
  if (reason == ErrorReason::kDeviceError && !IsCallers(code)) {
    const bool hangs = code == kStreamTimeout || code == kEventTimeout;
    if (hangs || !Answers()) Quarantine(got);
    OPSERVE_RETURN_IF_ERROR(health());
  }
  return MakeError({.reason = reason,
                    .op = {},
                    .parameter = "device",
                    .want = absl::StrCat("what ", name_, " does"),
                    .got = got});
}

bool Npu::Answers() {
  if (probe_ == nullptr) return true;  // it has not started yet, and fails to
  const std::array<std::byte, kProbeBytes> bytes = {};
  return acl().memcpy(probe_, kProbeBytes, bytes.data(), kProbeBytes, kAclHostToDevice) == 0;
}

void Npu::Quarantine(std::string_view why) {
  MutexLock lock(mutex_);
  if (quarantine_.empty()) quarantine_ = absl::StrCat(name_, ": ", ToAbsl(why));
}

absl::StatusOr<void*> Npu::BorrowStream() {
  {
    MutexLock lock(mutex_);
    if (!streams_.empty()) {
      void* stream = streams_.back();
      streams_.pop_back();
      return stream;
    }
  }
  void* stream = nullptr;
  OPSERVE_RETURN_IF_ERROR(Check(acl().create_stream(&stream), "aclrtCreateStream"));
  return stream;
}

absl::Status Npu::FinishStream(void* stream) {
  absl::Status status =
      Check(acl().synchronize(stream, timeout_milliseconds_), "aclrtSynchronizeStreamWithTimeout");
  if (!status.ok()) {
    DropStream(stream);
    return status;
  }
  MutexLock lock(mutex_);
  streams_.push_back(stream);
  return absl::OkStatus();
}

void Npu::DropStream(void* stream) {
  // To destroy one waits for its work.
  if (health().ok()) acl().destroy_stream(stream);
}

}  // namespace opserve::ascend
