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

// Made by Executor::Begin. Movable; not thread-safe. Owns a reference to all memory that it uses,
// but not to the context: once the context is gone, Run fails with CANCELLED.
class Execution {
 public:
  Execution(Execution&&) noexcept;
  Execution& operator=(Execution&&) noexcept;
  ~Execution();

  // Call it once, on a worker, in the stream's turn. Leases memory from the context
  // (RESOURCE_EXHAUSTED): the outputs that it makes, the workspace if none was given, and control
  // memory. Then runs the kernel, and returns when the outputs are written. Errors name the
  // operator.
  absl::Status Run();
  // The same, while `goes_on` returns OK. It is called before the work begins and between its
  // chunks, on any thread. Its first error stops the execution, and Run returns that error.
  absl::Status Run(absl::FunctionRef<absl::Status()> goes_on);

  // After Run, once: all outputs in schema order, with their memory. None after a failure.
  std::vector<ExecutedOutput> TakeOutputs();

 private:
  friend class Executor;

  // What an executor and its executions share.
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
