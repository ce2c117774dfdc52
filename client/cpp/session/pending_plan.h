// Phase one's answer, waited for by whoever needs it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <opserve/device_tensor.h>
#include <opserve/session_info.h>

#include "absl/status/statusor.h"
#include "core/base/mutex.h"
#include "core/base/waiter.h"

namespace opserve::client {

// What an Executor knows. Thread-safe.
class PendingPlan {
 public:
  explicit PendingPlan(std::string op) : op_(std::move(op)) {}

  const std::string& op() const { return op_; }

  // Whoever sets it holds it alone: the buffers go with the executor, not when its answer came.
  using Answer = Waiter<absl::StatusOr<ExecutorPlan>>;
  const std::shared_ptr<Answer>& answer() const { return answer_; }

  // Keeps the buffer of the tensor called `name`, in place of the one it had.
  void Keep(std::string_view name, DeviceBuffer buffer) {
    const MutexLock lock(mutex_);
    for (auto& [kept, old] : buffers_) {
      if (kept != name) continue;
      std::swap(old, buffer);  // the old one goes with the argument, when the lock is gone
      return;
    }
    buffers_.emplace_back(name, std::move(buffer));
  }

 private:
  const std::string op_;
  const std::shared_ptr<Answer> answer_ = std::make_shared<Answer>();
  Mutex mutex_;
  std::vector<std::pair<std::string, DeviceBuffer>> buffers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace opserve::client
