// What phase one leaves for phase two.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "client/acl/provider.h"
#include "core/base/mutex.h"

namespace opserve::acl {

// Thread-safe.
class OperatorExecutor {
 public:
  // `tensors`: the schema's names, in the order of the C function's arguments.
  OperatorExecutor(std::string_view op, void* context, std::shared_ptr<ProvidedPlan> plan,
                   std::vector<std::string_view> tensors)
      : op_(op), context_(context), plan_(std::move(plan)), tensors_(std::move(tensors)) {}

  std::string_view op() const { return op_; }
  void* context() const { return context_; }
  int64_t workspace_bytes() const { return plan_->workspace_bytes(); }

  bool repeatable() const { return repeatable_; }
  void MakeRepeatable() { repeatable_ = true; }

  // For the executions to come. 161002: not repeatable, or no such tensor.
  absl::Status SetStorage(size_t tensor, MemoryView storage);

  absl::Status Execute(ProvidedStream& stream, const MemoryView& workspace);

 private:
  const std::string_view op_;
  void* const context_;
  const std::shared_ptr<ProvidedPlan> plan_;
  const std::vector<std::string_view> tensors_;
  std::atomic<bool> repeatable_{false};

  Mutex mutex_;
  // Until the next execution: tensors are checked against each other when all are there.
  std::vector<std::pair<std::string_view, MemoryView>> new_storages_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace opserve::acl
