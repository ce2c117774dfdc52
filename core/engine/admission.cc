#include "core/engine/admission.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"

namespace opserve {
namespace {

// Waits that are long enough to learn from, and how much each counts.
constexpr absl::Duration kLearnableWait = absl::Milliseconds(1);
constexpr double kLearningRate = 0.05;
constexpr double kMaxScale = 20;
constexpr absl::Duration kLeastRetry = absl::Milliseconds(1);

}  // namespace

Admission::Place& Admission::Place::operator=(Place&& other) noexcept {
  if (this == &other) return *this;
  Leave();
  admission_ = std::exchange(other.admission_, nullptr);
  demand_ = other.demand_;
  expected_ = other.expected_;
  waited_ = other.waited_;
  return *this;
}

void Admission::Place::Start(absl::Time now) {
  waited_ = now - demand_.now;
  if (admission_ == nullptr || expected_ < kLearnableWait) return;
  const double ratio = absl::FDivDuration(waited_, expected_);
  MutexLock lock(admission_->mutex_);
  double& scale = admission_->scale_;
  scale = std::clamp(scale * (1 - kLearningRate + kLearningRate * ratio), 1 / kMaxScale, kMaxScale);
}

void Admission::Place::Leave() {
  if (admission_ == nullptr) return;
  Admission& admission = *std::exchange(admission_, nullptr);
  MutexLock lock(admission.mutex_);
  --admission.calls_;
  admission.bytes_ -= demand_.bytes;
  admission.work_ -= demand_.time;
}

absl::Duration Admission::MaxWait(const Demand& demand) const {
  return limits_.max_wait + demand.time;
}

absl::Duration Admission::ExpectedWait() const { return work_ / threads_ * scale_; }

Admission::Refusal Admission::Check(const Demand& demand) const {
  if (calls_ == 0) return Refusal::kNone;
  if (calls_ >= limits_.max_calls) return Refusal::kCalls;
  if (demand.bytes > limits_.max_bytes - bytes_) return Refusal::kBytes;
  const absl::Duration wait = ExpectedWait();
  if (wait > MaxWait(demand)) return Refusal::kWait;
  if (demand.now + wait > demand.deadline) return Refusal::kDeadline;
  return Refusal::kNone;
}

absl::Status Admission::Refuse(Refusal refusal, const Demand& demand) const {
  const absl::Duration wait = ExpectedWait();
  ErrorDetail detail{.reason = ErrorReason::kResourceLimit,
                     .retry_after = std::max(wait - limits_.max_wait / 2, kLeastRetry)};
  switch (refusal) {
    case Refusal::kCalls:
      detail.parameter = "calls in flight";
      detail.want = absl::StrCat("at most ", limits_.max_calls, " calls");
      detail.got = "one more";
      break;
    case Refusal::kBytes:
      detail.parameter = "bytes in flight";
      detail.want = absl::StrCat("at most ", limits_.max_bytes - bytes_, " bytes more, of ",
                                 limits_.max_bytes, " for inputs, outputs and workspaces");
      detail.got = absl::StrCat(demand.bytes);
      break;
    case Refusal::kWait:
      detail.parameter = "queue";
      detail.want = absl::StrCat("a wait of at most ",
                                 absl::FormatDuration(absl::Trunc(MaxWait(demand), kLeastRetry)));
      detail.got = absl::StrCat("about ", absl::FormatDuration(absl::Trunc(wait, kLeastRetry)));
      break;
    default:
      detail.reason = ErrorReason::kDeadlineExceeded;
      detail.parameter = "deadline";
      detail.want = absl::StrCat("one beyond the wait, which is about ",
                                 absl::FormatDuration(absl::Trunc(wait, kLeastRetry)));
      detail.got = absl::FormatDuration(absl::Trunc(demand.deadline - demand.now, kLeastRetry));
      detail.retry_after = std::nullopt;
  }
  return MakeError(detail);
}

absl::StatusOr<Admission::Place> Admission::Admit(const Demand& demand, Refusal& refusal) {
  MutexLock lock(mutex_);
  refusal = Check(demand);
  if (refusal != Refusal::kNone) return Refuse(refusal, demand);
  Place place;
  place.admission_ = this;
  place.demand_ = demand;
  place.expected_ = ExpectedWait();
  ++calls_;
  bytes_ += demand.bytes;
  work_ += demand.time;
  return place;
}

Admission::Load Admission::load() const {
  MutexLock lock(mutex_);
  return {calls_, bytes_, ExpectedWait()};
}

}  // namespace opserve
