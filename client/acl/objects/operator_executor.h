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
#include "client/acl/provider/provider.h"
#include "core/base/mutex.h"

namespace opserve::acl {

// A tensor of a call, and the memory that it reaches.
struct BoundTensor {
  std::string_view name;  // the schema's
  MemoryView storage;     // may be none
  int64_t bytes = 0;      // of it, from its start to where the tensor ends
};

// Thread-safe.
class OperatorExecutor {
 public:
  // `tensors` are in the order of the C function's arguments.
  OperatorExecutor(std::string_view op, void* context, std::shared_ptr<ProvidedPlan> plan,
                   std::vector<BoundTensor> tensors)
      : op_(op), context_(context), plan_(std::move(plan)), tensors_(std::move(tensors)) {}

  std::string_view op() const { return op_; }
  void* context() const { return context_; }
  int64_t workspace_bytes() const { return plan_->workspace_bytes(); }

  bool repeatable() const { return repeatable_; }
  void MakeRepeatable() { repeatable_ = true; }

  // For the executions to come. 161002: not repeatable, or no such tensor.
  absl::Status SetStorage(size_t tensor, MemoryView storage);

  // `workspace` is as large as it must be; 161002 when it overlaps a tensor, or SetStorage's.
  absl::Status Execute(ProvidedStream& stream, const MemoryView& workspace);

 private:
  absl::Status TakeNewStorages() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckApart(const MemoryView& workspace) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string_view op_;
  void* const context_;
  const std::shared_ptr<ProvidedPlan> plan_;
  std::atomic<bool> repeatable_{false};

  Mutex mutex_;
  std::vector<BoundTensor> tensors_ ABSL_GUARDED_BY(mutex_);
  // Until the next execution: tensors are checked against each other when all are there.
  std::vector<std::pair<std::string_view, MemoryView>> new_storages_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace opserve::acl
