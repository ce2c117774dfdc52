// The calls by HTTP: how many may run, and their end.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/client_id.h"
#include "core/base/mutex.h"
#include "core/base/shared_limit.h"

namespace opserve::server {

// Thread-safe.
class RunningCalls {
 public:
  // So many at one time, and of them a client's share.
  RunningCalls(int64_t most, double client_share) : limit_(most, client_share) {}
  // Waits until no Life of it is left.
  ~RunningCalls();

  // That of an object that a request is, until the last byte of its answer was sent; workers may
  // let go of it later.
  class Life {
   public:
    explicit Life(RunningCalls& of);
    ~Life();
    Life(const Life&) = delete;
    Life& operator=(const Life&) = delete;

   private:
    RunningCalls& of_;
  };

  // The place of one, which ends with it. Movable.
  class Place {
   public:
    Place() = default;
    Place(RunningCalls& of, ClientId client) : of_(&of), client_(client) {}
    Place(Place&& other) noexcept
        : of_(std::exchange(other.of_, nullptr)), client_(other.client_) {}
    Place& operator=(Place&& other) noexcept {
      std::swap(of_, other.of_);
      std::swap(client_, other.client_);
      return *this;
    }
    ~Place() {
      if (of_ != nullptr) of_->End(client_);
    }

   private:
    RunningCalls* of_ = nullptr;
    ClientId client_ = ClientId::kNone;
  };

  // RESOURCE_EXHAUSTED, with the time to try again, when there are too many.
  absl::StatusOr<Place> Begin(ClientId client);

  // Waits until no Life is left, at most for so long: until all answers were taken, too.
  void AwaitNone(absl::Duration most);
  // From now on nobody waits for their answers.
  void CancelAll() { is_cancelled_ = true; }
  bool is_cancelled() const { return is_cancelled_; }

 private:
  void End(ClientId client);

  std::atomic<bool> is_cancelled_ = false;
  Mutex mutex_;
  CondVar ended_;
  SharedLimit limit_ ABSL_GUARDED_BY(mutex_);
  int64_t living_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace opserve::server
