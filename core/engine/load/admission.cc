#include "core/engine/load/admission.h"

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
// No wait, however wrong its estimate was, counts for more.
constexpr double kMaxRatio = 4;
constexpr absl::Duration kLeastRetry = absl::Milliseconds(1);

// What the client may have more.
int64_t RoomOf(const SharedLimit& limit, ClientId client) {
  return std::max<int64_t>(
      0, std::min(limit.limit() - limit.used(), limit.MostOf(client) - limit.used_by(client)));
}

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
  const double ratio = std::min(absl::FDivDuration(waited_, expected_), kMaxRatio);
  MutexLock lock(admission_->mutex_);
  double& scale = admission_->scale_;
  scale = std::clamp(scale * (1 - kLearningRate + kLearningRate * ratio), 1 / kMaxScale, kMaxScale);
}

void Admission::Place::SetTime(absl::Duration time) {
  if (admission_ == nullptr) return;
  const absl::Duration more = time - std::exchange(demand_.time, time);
  MutexLock lock(admission_->mutex_);
  admission_->work_ += more;
  admission_->work_of_[demand_.client].time += more;
}

void Admission::Place::Leave() {
  if (admission_ == nullptr) return;
  Admission& admission = *std::exchange(admission_, nullptr);
  MutexLock lock(admission.mutex_);
  admission.calls_.Return(demand_.client, 1);
  admission.bytes_.Return(demand_.client, demand_.bytes);
  admission.long_calls_ -= demand_.is_tiny ? 0 : 1;
  admission.work_ -= demand_.time;
  const auto own = admission.work_of_.find(demand_.client);
  own->second.time -= demand_.time;
  if (--own->second.calls == 0) admission.work_of_.erase(own);
}

absl::Duration Admission::MaxWait(const Demand& demand) const {
  return limits_.max_wait + demand.time;
}

absl::Duration Admission::TotalWait() const { return work_ / threads_ * scale_; }

absl::Duration Admission::ExpectedWait(const Demand& demand) const {
  const auto own = work_of_.find(demand.client);
  const bool is_new = own == work_of_.end();
  const auto others = static_cast<int64_t>(work_of_.size()) - (is_new ? 0 : 1);
  if (others == 0) return TotalWait();
  const absl::Duration own_time = is_new ? absl::ZeroDuration() : own->second.time;
  // While the client's work is done, as much of each other client's is.
  const absl::Duration turns = own_time + (own_time + demand.time) * others;
  return std::min(TotalWait(), turns / threads_ * scale_);
}

Admission::Refusal Admission::Check(const Demand& demand) const {
  if (calls_.used() == 0) return Refusal::kNone;
  if (calls_.Check(demand.client, 1) != SharedLimit::Verdict::kGranted) return Refusal::kCalls;
  if (bytes_.Check(demand.client, demand.bytes) != SharedLimit::Verdict::kGranted)
    return Refusal::kBytes;
  const absl::Duration wait = ExpectedWait(demand);
  if (wait > MaxWait(demand)) return Refusal::kWait;
  if (demand.now + wait > demand.deadline) return Refusal::kDeadline;
  return Refusal::kNone;
}

absl::Status Admission::Refuse(Refusal refusal, const Demand& demand) const {
  const absl::Duration wait = ExpectedWait(demand);
  ErrorDetail detail{.reason = ErrorReason::kResourceLimit,
                     .retry_after = std::max(wait - limits_.max_wait / 2, kLeastRetry)};
  switch (refusal) {
    case Refusal::kCalls:
      detail.parameter = "calls in flight";
      detail.want =
          calls_.used() < calls_.limit()
              ? absl::StrCat("at most ", calls_.MostOf(demand.client), " calls of one client, of ",
                             calls_.limit(), " (client_share)")
              : absl::StrCat("at most ", calls_.limit(), " calls (max_calls_in_flight)");
      detail.got = "one more";
      break;
    case Refusal::kBytes:
      detail.parameter = "bytes in flight";
      detail.want = absl::StrCat(
          "at most ", RoomOf(bytes_, demand.client), " bytes more, of ", bytes_.limit(),
          " for inputs, outputs and workspaces (max_bytes_in_flight, client_share)");
      detail.got = absl::StrCat(demand.bytes);
      break;
    case Refusal::kWait:
      detail.parameter = "queue";
      detail.want = absl::StrCat("a wait of at most ",
                                 absl::FormatDuration(absl::Trunc(MaxWait(demand), kLeastRetry)),
                                 " (max_queue_wait)");
      detail.got = absl::StrCat("about ", absl::FormatDuration(absl::Ceil(wait, kLeastRetry)));
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

Admission::Place Admission::Seat(const Demand& demand) {
  Place place;
  place.admission_ = this;
  place.demand_ = demand;
  // Of what goes before all others its wait says nothing.
  if (!demand.is_tiny || long_calls_ == 0) place.expected_ = ExpectedWait(demand);
  long_calls_ += demand.is_tiny ? 0 : 1;
  calls_.Add(demand.client, 1);
  bytes_.Add(demand.client, demand.bytes);
  work_ += demand.time;
  Work& own = work_of_[demand.client];
  own.time += demand.time;
  ++own.calls;
  return place;
}

absl::StatusOr<Admission::Place> Admission::Admit(const Demand& demand, Refusal& refusal) {
  MutexLock lock(mutex_);
  refusal = Check(demand);
  if (refusal != Refusal::kNone) return Refuse(refusal, demand);
  return Seat(demand);
}

Admission::Place Admission::Enter(const Demand& demand) {
  MutexLock lock(mutex_);
  return Seat(demand);
}

Admission::Load Admission::load() const {
  MutexLock lock(mutex_);
  return {calls_.used(), bytes_.used(), TotalWait()};
}

}  // namespace opserve
