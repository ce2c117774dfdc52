// The two phases as separate steps: a planned call on memory that the caller owns, executed on a
// stream later, once or many times.
#pragma once

#include <optional>
#include <utility>

#include "core/engine/execution.h"

namespace opserve {

// A planned call bound to memory of a context. Thread-safe. The engine must outlive it.
class Executor {
 public:
  enum class Use : uint8_t {
    kOnce,        // the first execution consumes it, whether or not that succeeds
    kRepeatable,  // any number of executions, on one stream at a time
  };

  // named.inputs[i].storage and, of outputs with `given`, named.outputs[i].storage index
  // `storages`; several tensors may look into one. Outputs without `given` are made by each
  // execution: dense, from the context's memory and budget. `named` need not outlive the call.
  //
  // Errors, after MakePlan's: 161002 `device` when the call names another than the context's;
  // CheckViews'.
  static absl::StatusOr<std::shared_ptr<Executor>> Create(Engine& engine,
                                                          std::shared_ptr<Context> context,
                                                          NamedCall named,
                                                          const std::vector<StorageView>& storages,
                                                          Use use);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  const Plan& plan() const;
  const std::shared_ptr<Context>& context() const { return context_; }

  // Other storages, by name of input or given output, for the executions to come; those that were
  // begun keep theirs. All or nothing. Errors: 161002 `executor` when it is not repeatable; 161002
  // for a name that is unknown, twice there, or of a tensor that the call does not have in memory
  // of the caller's; for the storages as Create.
  absl::Status SetTensors(std::span<const std::pair<std::string, StorageView>> tensors);

  // One execution, to be run by a command of `stream`. It is in flight until it has run or is
  // destroyed.
  //
  // Without `workspace` the execution leases its own. Errors: 161002 `executor` when it was
  // consumed, is in flight on another stream, or `stream` is not one of its context;
  // CheckWorkspace's. kOnce: consumed, whatever Begin says.
  absl::StatusOr<Execution> Begin(const std::shared_ptr<Stream>& stream,
                                  std::optional<StorageView> workspace);

 private:
  Executor(std::shared_ptr<Context> context, std::shared_ptr<Execution::Shared> shared,
           CallViews views, Use use);

  absl::Status Rebind(std::span<const std::pair<std::string, StorageView>> tensors)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<Execution> Start(const std::shared_ptr<Stream>& stream,
                                  std::optional<StorageView> workspace)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::shared_ptr<Context> context_;
  const std::shared_ptr<Execution::Shared> shared_;  // with the executions
  const Use use_;

  Mutex mutex_;
  CallViews views_ ABSL_GUARDED_BY(mutex_);
  bool consumed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace opserve
