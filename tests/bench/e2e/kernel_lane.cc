#include <cstring>
#include <deque>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/mutex.h"
#include "core/base/status_macros.h"
#include "core/engine/engine.h"
#include "core/op/op_table.h"
#include "tests/bench/e2e/lanes.h"

namespace opserve::bench {
namespace {

constexpr int64_t kMemory = int64_t{4} << 30;

absl::StatusOr<Plan> PlanOf(const Engine& engine, const v1::Call& call) {
  NamedCall named;
  OPSERVE_ASSIGN_OR_RETURN(named.op, FindOperator(call.op()));
  for (const v1::Tensor& input : call.inputs()) {
    const std::vector<int64_t> shape(input.shape().begin(), input.shape().end());
    named.inputs.push_back({input.name(), TensorDesc::Dense(DType::kFloat32, shape)});
  }
  for (const v1::Attribute& attribute : call.attributes()) {
    if (attribute.has_int_value())
      named.attributes.push_back({attribute.name(), int64_t{attribute.int_value()}});
    else
      named.attributes.push_back({attribute.name(), attribute.float_value()});
  }
  return engine.MakePlan(named);
}

// A planned call with all that an execution needs, in the device's memory.
class PlacedCall {
 public:
  explicit PlacedCall(const Workload& workload) : workload_(workload) {}

  absl::Status Place() {
    OPSERVE_ASSIGN_OR_RETURN(engine_, Engine::Create({.memory_limit_bytes = kMemory}));
    OPSERVE_ASSIGN_OR_RETURN(plan_, PlanOf(*engine_, workload_.call));
    MemoryPool& memory = plan_->device->memory();
    for (const std::string& input : workload_.inputs) {
      OPSERVE_ASSIGN_OR_RETURN(PooledBuffer buffer, memory.Acquire(input.size()));
      std::memcpy(buffer.data(), input.data(), input.size());
      inputs_.push_back(buffer.data());
      held_.push_back(std::move(buffer));
    }
    OPSERVE_ASSIGN_OR_RETURN(output_, memory.Acquire(workload_.output.size()));
    OPSERVE_ASSIGN_OR_RETURN(workspace_, memory.Acquire(plan_->workspace_bytes));
    OPSERVE_ASSIGN_OR_RETURN(control_, memory.Acquire(plan_->control_bytes));
    OPSERVE_RETURN_IF_ERROR(Execute());
    return CheckFloats(workload_.output,
                       {reinterpret_cast<const char*>(output_.data()), output_.size()});
  }

  absl::Status Execute() {
    std::byte* const outputs[] = {output_.data()};
    const Workers workers(plan_->device->workers());
    return plan_->kernel->execute({.call = plan_->call,
                                   .inputs = inputs_,
                                   .outputs = outputs,
                                   .workspace = {workspace_.data(), workspace_.size()},
                                   .control = {control_.data(), control_.size()},
                                   .workers = workers});
  }

 private:
  const Workload& workload_;
  std::unique_ptr<Engine> engine_;
  std::optional<Plan> plan_;
  std::vector<PooledBuffer> held_;
  std::vector<const std::byte*> inputs_;
  PooledBuffer output_, workspace_, control_;
};

class KernelLane final : public Lane {
 public:
  explicit KernelLane(const Workload& workload) : workload_(workload), call_(workload) {}
  ~KernelLane() override {
    {
      const MutexLock lock(mutex_);
      ending_ = true;
      changed_.NotifyAll();
    }
    if (thread_.joinable()) thread_.join();
  }

  absl::Status Start() {
    OPSERVE_RETURN_IF_ERROR(call_.Place());
    thread_ = std::thread([this] { Run(); });
    return absl::OkStatus();
  }

  void Send(size_t /*work*/, absl::Duration /*timeout*/, LaneDone done) override {
    const MutexLock lock(mutex_);
    wanted_.push_back(std::move(done));
    changed_.NotifyAll();
  }

 private:
  // Empty once the lane goes.
  LaneDone TakeNext() {
    const MutexLock lock(mutex_);
    while (!ending_ && wanted_.empty()) changed_.Wait(mutex_);
    if (wanted_.empty()) return nullptr;
    LaneDone done = std::move(wanted_.front());
    wanted_.pop_front();
    return done;
  }

  void Run() {
    while (const LaneDone done = TakeNext()) {
      done({.status = call_.Execute(),
            .request_bytes = workload_.input_bytes(),
            .answer_bytes = workload_.output_bytes()});
    }
  }

  const Workload& workload_;
  PlacedCall call_;
  Mutex mutex_;
  CondVar changed_;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<LaneDone> wanted_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Lane>> MakeKernelLane(const Workload& workload) {
  auto lane = std::make_unique<KernelLane>(workload);
  OPSERVE_RETURN_IF_ERROR(lane->Start());
  return lane;
}

}  // namespace opserve::bench
