#include "server/calls/worker_task.h"

#include <memory>
#include <utility>

#include "core/workers/worker_pool.h"

namespace opserve::server {
namespace {

class Work final : public WorkerPool::Task {
 public:
  explicit Work(absl::AnyInvocable<void()> work) : work_(std::move(work)) {}
  void Run() override { work_(); }

 private:
  absl::AnyInvocable<void()> work_;
};

}  // namespace

void RunOnWorker(Engine& engine, ClientId client, absl::AnyInvocable<void()> work) {
  engine.devices()[0]->workers().Enqueue(std::make_unique<Work>(std::move(work)),
                                         WorkerPool::Size::kAny, client);
}

}  // namespace opserve::server
