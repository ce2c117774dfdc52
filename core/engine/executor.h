// The two phases apart: a planned call on memory that its caller owns, executed on a stream later,
// once or many times.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/mutex.h"
#include "core/device/context.h"
#include "core/engine/engine.h"

namespace opserve {

// Memory of a buffer from an offset on, to the buffer's end.
struct StorageView {
  std::shared_ptr<DeviceBuffer> buffer;  // null = none
  int64_t offset_bytes = 0;
};

struct ExecutedOutput {
  std::string_view name;  // the schema's
  TensorDesc desc;
  StorageView storage;  // none for one that is not wanted
  bool wanted = false;  // false: the call masks it out, nothing was written
  bool made = false;    // by the execution; else the caller's memory
};

// One run of an executor, made by Executor::Begin. Movable; not thread-safe. Holds on to all the
// memory that it uses, but not to the context: when that is gone, Run fails with CANCELLED.
class Execution {
 public:
  Execution(Execution&&) noexcept;
  Execution& operator=(Execution&&) noexcept;
  ~Execution();

  // To be called once, on a worker, in the stream's turn. Leases the outputs that it makes and,
  // where none was given, the workspace, from the context (RESOURCE_EXHAUSTED), as well as what the
  // kernel keeps for itself; runs the kernel. Returns when the outputs are written. Errors name the
  // operator.
  absl::Status Run();

  // After Run, once: all outputs in schema order, with their memory. None after a failure.
  std::vector<ExecutedOutput> TakeOutputs();

 private:
  friend class Executor;
  struct State;
  explicit Execution(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

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
  // 161001 for a tensor without storage; 161002 naming the tensor for a buffer of another context,
  // a view that reaches beyond its buffer or is not aligned to its elements, and an output that
  // overlaps itself, an input or another output.
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
  // consumed, is in flight on another stream, or `stream` is not one of its context; `workspace`:
  // 161001 without a buffer where bytes are due, 161002 when it is
  // another context's, too small, not aligned to 64 bytes, or overlaps a tensor. kOnce: consumed,
  // whatever Begin says.
  absl::StatusOr<Execution> Begin(const std::shared_ptr<Stream>& stream,
                                  std::optional<StorageView> workspace);

 private:
  friend class Execution;
  struct Shared;  // with the executions
  struct Storages {
    std::vector<StorageView> inputs;   // in schema order
    std::vector<StorageView> outputs;  // likewise; none for one that is made, or not wanted
  };

  Executor(std::shared_ptr<Context> context, std::shared_ptr<Shared> shared, Storages storages,
           Use use);

  static absl::Status CheckStorages(const OpCall& call, const Context& context,
                                    const Storages& storages);
  // The output, which has a storage, is apart from the inputs and the outputs before it.
  static absl::Status CheckApart(const OpCall& call, const Storages& storages, size_t output);
  static absl::StatusOr<StorageView*> FindTensor(const OpCall& call, Storages& storages,
                                                 const std::string& name);
  absl::Status Rebind(std::span<const std::pair<std::string, StorageView>> tensors)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckWorkspace(const StorageView& workspace) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<Execution> Start(const std::shared_ptr<Stream>& stream,
                                  std::optional<StorageView> workspace)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::shared_ptr<Context> context_;
  const std::shared_ptr<Shared> shared_;
  const Use use_;

  Mutex mutex_;
  Storages storages_ ABSL_GUARDED_BY(mutex_);
  bool consumed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace opserve
