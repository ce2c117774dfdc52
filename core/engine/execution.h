// One run of an executor, in a stream's turn.
#pragma once

#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "core/base/mutex.h"
#include "core/engine/engine.h"
#include "core/engine/storage_view.h"

namespace opserve {

struct ExecutedOutput {
  std::string_view name;  // the schema's, which the execution keeps
  TensorDesc desc;
  StorageView storage;  // none for one that is not wanted
  bool wanted = false;  // false: the call masks it out, nothing was written
  bool made = false;    // by the execution; else the caller's memory
};

// Made by Executor::Begin. Movable; not thread-safe. Holds on to all the memory that it uses, but
// not to the context: when that is gone, Run fails with CANCELLED.
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
  // The same, while `goes_on` says OK: it is asked before the work begins and between its chunks,
  // by any thread. Its error stops the execution, which fails with it.
  absl::Status Run(absl::FunctionRef<absl::Status()> goes_on);

  // After Run, once: all outputs in schema order, with their memory. None after a failure.
  std::vector<ExecutedOutput> TakeOutputs();

 private:
  friend class Executor;

  // What an executor and its executions know in common.
  struct Shared {
    Shared(Plan planned, Engine& planner) : plan(std::move(planned)), engine(planner) {}

    // One more in flight. 161002 `executor` when others are, on another stream.
    absl::Status TakeOff(const std::shared_ptr<Stream>& on);
    void Land();

    const Plan plan;
    Engine& engine;
    Mutex mutex;
    int64_t in_flight ABSL_GUARDED_BY(mutex) = 0;
    std::weak_ptr<Stream> stream ABSL_GUARDED_BY(mutex);  // of what is in flight
  };
  struct State;

  // One that took off.
  Execution(std::shared_ptr<Shared> shared, const std::shared_ptr<Context>& context,
            const std::shared_ptr<Stream>& stream, CallViews views, StorageView workspace);

  std::unique_ptr<State> state_;
};

}  // namespace opserve
