#include "client/cpp/memory/shared_execute.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/cpp/transport/connection.h"
#include "client/cpp/values/shared_region.h"
#include "client/cpp/wire/messages.h"
#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "core/base/op_error.h"

namespace opserve::client {
namespace {

// Keeps itself until the call has ended.
class SharedExecute final : public RunningCall, public std::enable_shared_from_this<SharedExecute> {
 public:
  SharedExecute(std::shared_ptr<LocalMemory> memory, ExecuteStarter start,
                const Connection& connection, Call call, const CallOptions& options,
                absl::Time deadline, Done<ExecuteResult> done)
      : memory_(std::move(memory)),
        start_(std::move(start)),
        target_(connection.target()),
        tries_(connection.tries()),
        has_several_connections_(connection.has_several()),
        call_(std::move(call)),
        description_(DescriptionOf(call_)),
        options_(options),
        deadline_(deadline),
        done_(std::move(done)) {}

  void Begin() {
    std::optional<PlacedCall> placed = memory_->Place(call_, description_, deadline_);
    if (!placed.has_value()) return SendBytes(0, Why::kNoMemory);
    regions_ = std::move(placed->regions);
    Start(placed->call, 1, [self = shared_from_this()](absl::StatusOr<ExecuteResult> result) {
      self->EndPlaced(std::move(result));
    });
  }

  void Cancel() override {
    CallHandle running;
    {
      const MutexLock lock(mutex_);
      is_cancelled_ = true;
      running = running_;
    }
    running.Cancel();
  }

 private:
  enum class Why : uint8_t { kNoMemory, kRefused, kTryAgain };

  void Start(const Call& call, int tries, Done<ExecuteResult> done) {
    int number = 0;
    {
      const MutexLock lock(mutex_);
      number = ++number_;
    }
    CallOptions options = options_;
    options.timeout = deadline_ - Clock::Real().Now();
    CallHandle running = start_(call, options, tries, std::move(done));
    bool is_cancelled = false;
    {
      const MutexLock lock(mutex_);
      if (number != number_) return;  // it is over, and another one is under way
      running_ = running;
      is_cancelled = is_cancelled_;
    }
    if (is_cancelled) running.Cancel();
  }

  void EndPlaced(absl::StatusOr<ExecuteResult> result) {
    if (result.ok()) {
      memory_->NoteSuccess();
      return End(std::move(result));
    }
    // The server may not be done with them.
    for (const std::shared_ptr<SharedRegion>& region : regions_) region->is_spoiled = true;
    regions_.clear();
    memory_->known_outputs().Forget(description_);
    if (MayBeRefusal(result.status())) return SendBytes(0, Why::kRefused);
    if (tries_ > 1 && PassesByItself(result.status())) return SendBytes(tries_ - 1, Why::kTryAgain);
    // It may have gone to a connection that was refused late.
    if (has_several_connections_ && absl::IsUnavailable(result.status()) &&
        !GetErrorDetail(result.status()).has_value())
      return SendBytes(1, Why::kTryAgain);
    End(std::move(result));
  }

  // A call that the server did not begin to execute, for what it says or where its tensors are.
  static bool MayBeRefusal(const absl::Status& status) {
    return GetErrorDetail(status).has_value() &&
           (absl::IsInvalidArgument(status) || absl::IsNotFound(status) ||
            absl::IsFailedPrecondition(status));
  }

  static bool PassesByItself(const absl::Status& status) {
    const std::optional<ErrorDetail> detail = GetErrorDetail(status);
    return absl::IsUnavailable(status) || (detail.has_value() && detail->retry_after.has_value());
  }

  void SendBytes(int tries, Why why) {
    Start(call_, tries, [self = shared_from_this(), why](absl::StatusOr<ExecuteResult> result) {
      // What is refused either way is no fault of the memory's.
      if (result.ok() && why == Why::kRefused) self->memory_->NoteRefusal();
      self->End(std::move(result));
    });
  }

  void End(absl::StatusOr<ExecuteResult> result) {
    KnownOutputs& known = memory_->known_outputs();
    if (result.ok() && known.Find(description_) == nullptr) known.Learn(description_, *result);
    regions_.clear();
    if (IsTooLate(result.status())) result = TooLate(target_, options_.timeout);
    Done<ExecuteResult> done = std::move(done_);
    done(std::move(result));
  }

  const std::shared_ptr<LocalMemory> memory_;
  const ExecuteStarter start_;
  const std::string target_;
  const int tries_;
  const bool has_several_connections_;
  const Call call_;
  const std::string description_;
  const CallOptions options_;
  const absl::Time deadline_;
  Done<ExecuteResult> done_;
  std::vector<std::shared_ptr<SharedRegion>> regions_;
  Mutex mutex_;
  int number_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  CallHandle running_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

CallHandle ExecuteShared(std::shared_ptr<LocalMemory> memory, ExecuteStarter start,
                         const Connection& connection, const Call& call, const CallOptions& options,
                         absl::Time deadline, Done<ExecuteResult> done) {
  auto execute = std::make_shared<SharedExecute>(std::move(memory), std::move(start), connection,
                                                 call, options, deadline, std::move(done));
  execute->Begin();
  return CallHandle(std::move(execute));
}

}  // namespace opserve::client
