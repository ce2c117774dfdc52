#include "tests/bench/e2e/kernel_load.h"

#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "core/base/status_macros.h"
#include "core/engine/engine.h"
#include "core/op/op_table.h"

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

absl::Status Loop(const Workload& workload, Recorder& recorder) {
  OPSERVE_ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                           Engine::Create({.memory_limit_bytes = kMemory}));
  OPSERVE_ASSIGN_OR_RETURN(const Plan plan, PlanOf(*engine, workload.call));
  Device& device = *plan.device;
  std::vector<PooledBuffer> held;
  std::vector<const std::byte*> inputs;
  held.reserve(workload.inputs.size());
  inputs.reserve(workload.inputs.size());
  for (const std::string& input : workload.inputs) {
    OPSERVE_ASSIGN_OR_RETURN(PooledBuffer buffer, device.memory().Acquire(input.size()));
    std::memcpy(buffer.data(), input.data(), input.size());
    inputs.push_back(buffer.data());
    held.push_back(std::move(buffer));
  }
  OPSERVE_ASSIGN_OR_RETURN(const PooledBuffer output,
                           device.memory().Acquire(workload.output.size()));
  OPSERVE_ASSIGN_OR_RETURN(const PooledBuffer workspace,
                           device.memory().Acquire(plan.workspace_bytes));
  OPSERVE_ASSIGN_OR_RETURN(const PooledBuffer control, device.memory().Acquire(plan.control_bytes));
  std::byte* const outputs[] = {output.data()};
  const Workers workers(device.workers());
  absl::Time now = absl::Now();
  while (now < recorder.layout().end) {
    const absl::Time start = now;
    const absl::Status status =
        plan.kernel->execute({.call = plan.call,
                              .inputs = inputs,
                              .outputs = outputs,
                              .workspace = {workspace.data(), workspace.size()},
                              .control = {control.data(), control.size()},
                              .workers = workers});
    now = absl::Now();
    recorder.Record(start, now, status);
  }
  return CheckFloats(workload.output,
                     {reinterpret_cast<const char*>(output.data()), output.size()});
}

}  // namespace

void RunKernelLoop(const Workload& workload, Recorder& recorder) {
  const absl::Status status = Loop(workload, recorder);
  if (!status.ok()) recorder.Fault(status);
}

}  // namespace opserve::bench
