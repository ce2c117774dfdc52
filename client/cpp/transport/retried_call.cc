#include "client/cpp/transport/retried_call.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/random/random.h"
#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "client/cpp/transport/message_stream.h"
#include "core/base/clock.h"
#include "core/base/fragments.h"
#include "core/base/mutex.h"
#include "core/base/op_error.h"

namespace opserve::client {
namespace {

constexpr absl::Duration kFirstWait = absl::Milliseconds(100);
constexpr absl::Duration kLeastWait = absl::Milliseconds(1);  // whatever a server says
constexpr int kMostDoublings = 10;
constexpr double kSpread = 0.2;

// Keeps itself until the last try has ended.
class RetriedCall final : public RunningCall, public std::enable_shared_from_this<RetriedCall> {
 public:
  RetriedCall(absl::Duration timeout, StartTry start, Connection::Ended ended)
      : deadline_(Clock::Real().Now() + timeout),
        start_(std::move(start)),
        ended_(std::move(ended)) {}

  void Try() {
    const int number = BeginTry();
    if (number == 0) return;
    const std::shared_ptr<RunningCall> running =
        start_(deadline_ - Clock::Real().Now(),
               [self = shared_from_this(), number](absl::Status status, const Fragments& answer,
                                                   int tries) {
                 self->EndTry(number, tries, std::move(status), answer);
               });
    if (Keep(number, running)) running->Cancel();
  }

  void Cancel() override {
    std::shared_ptr<RunningCall> running;
    {
      const MutexLock lock(mutex_);
      if (std::exchange(is_cancelled_, true)) return;
      running = std::move(running_);
      if (running == nullptr && state_ != State::kWaits) return;  // Keep will see it
      if (running == nullptr) state_ = State::kOver;
    }
    if (running != nullptr) return running->Cancel();
    RunSoon([self = shared_from_this()] { self->TellCancelled(); });
  }

 private:
  enum class State : uint8_t { kRuns, kWaits, kOver };

  // The try's number; 0 when there is none to be any more.
  int BeginTry() {
    const MutexLock lock(mutex_);
    if (state_ == State::kOver) return 0;
    state_ = State::kRuns;
    return ++number_;
  }

  // Whether the call was cancelled meanwhile.
  bool Keep(int number, const std::shared_ptr<RunningCall>& running) {
    const MutexLock lock(mutex_);
    if (number != number_ || state_ != State::kRuns) return false;  // the try is over
    running_ = running;
    return is_cancelled_;
  }

  void EndTry(int number, int tries, absl::Status status, const Fragments& answer) {
    const std::optional<absl::Duration> wait = WaitForNextTry(number, tries, deadline_, status);
    if (BeginWait(wait)) {
      RunSoon([self = shared_from_this()] { self->Try(); }, *wait);
    } else {
      Tell(std::move(status), answer);
    }
  }

  // False when the call is over.
  bool BeginWait(std::optional<absl::Duration> wait) {
    const MutexLock lock(mutex_);
    running_ = nullptr;
    state_ = wait.has_value() && !is_cancelled_ ? State::kWaits : State::kOver;
    return state_ == State::kWaits;
  }

  void TellCancelled() {
    Tell(absl::CancelledError("the call was cancelled while it waited to try again"), {});
  }

  void Tell(absl::Status status, const Fragments& answer) {
    Connection::Ended ended = std::move(ended_);
    ended(std::move(status), answer);
  }

  const absl::Time deadline_;
  StartTry start_;
  Connection::Ended ended_;
  Mutex mutex_;
  int number_ ABSL_GUARDED_BY(mutex_) = 0;
  State state_ ABSL_GUARDED_BY(mutex_) = State::kRuns;
  bool is_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  std::shared_ptr<RunningCall> running_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

std::optional<absl::Duration> WaitBehind(int number, const absl::Status& status) {
  const std::optional<ErrorDetail> detail = GetErrorDetail(status);
  if (detail.has_value() && detail->retry_after.has_value())
    return std::max(*detail->retry_after, kLeastWait);
  if (!absl::IsUnavailable(status)) return std::nullopt;
  absl::InsecureBitGen random;
  return kFirstWait * (1 << std::min(number - 1, kMostDoublings)) *
         absl::Uniform(random, 1 - kSpread, 1 + kSpread);
}

std::optional<absl::Duration> WaitForNextTry(int number, int tries, absl::Time deadline,
                                             const absl::Status& status) {
  if (status.ok() || number >= tries) return std::nullopt;
  const std::optional<absl::Duration> wait = WaitBehind(number, status);
  if (!wait.has_value() || Clock::Real().Now() + *wait >= deadline) return std::nullopt;
  return wait;
}

std::shared_ptr<RunningCall> StartRetriedCall(absl::Duration timeout, StartTry start,
                                              Connection::Ended ended) {
  auto call = std::make_shared<RetriedCall>(timeout, std::move(start), std::move(ended));
  call->Try();
  return call;
}

}  // namespace opserve::client
