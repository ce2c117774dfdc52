#include "core/engine/join_queues.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/batch/joined_call.h"
#include "core/engine/kernel_run.h"
#include "core/engine/one_shot_run.h"

namespace opserve {
namespace {

bool IsTimely(OneShot& shot, absl::Time now) {
  return !(shot.cancelled && shot.cancelled()) && now <= shot.deadline;
}

absl::StatusOr<Plan> PlanOfAll(const Plan& one, int64_t elements) {
  Plan plan;
  OPSERVE_ASSIGN_OR_RETURN(plan.call, JoinedCall(one.call, elements));
  plan.device = one.device;
  OPSERVE_RETURN_IF_ERROR(PlanKernel(plan));
  for (size_t i = 0; i < plan.call.inputs.size(); ++i)
    plan.storages.push_back(plan.call.inputs[i].has_value() ? static_cast<int>(i) : -1);
  plan.output_storages.assign(plan.call.outputs.size(), -1);
  return plan;
}

void AppendAll(const Fragments& more, Fragments& all) {
  for (const std::span<const std::byte> piece : more.pieces()) all.Append(piece);
}

// The part of a joined output that is one call's.
absl::StatusOr<PooledBuffer> Part(Device& device, const PooledBuffer& joined, size_t offset,
                                  size_t bytes) {
  OPSERVE_ASSIGN_OR_RETURN(PooledBuffer part, device.host_memory().Acquire(bytes));
  std::memcpy(part.data(), joined.data() + offset, bytes);
  return part;
}

absl::StatusOr<Outputs> PartsOf(const Plan& plan, const Outputs& joined, int64_t first_element) {
  Outputs outputs;
  for (size_t i = 0; i < joined.size(); ++i) {
    const TensorDesc& desc = plan.call.outputs[i].desc;
    const size_t offset = static_cast<size_t>(first_element) * DTypeSize(desc.dtype);
    absl::StatusOr<PooledBuffer> bytes =
        Part(*plan.device, joined[i].bytes, offset, static_cast<size_t>(desc.size_bytes()));
    if (!bytes.ok()) return WithOperator(bytes.status(), plan.call.op->name);
    outputs.push_back({joined[i].name, desc, *std::move(bytes)});
  }
  return outputs;
}

}  // namespace

// The turn of a call that waits to be joined.
class Engine::JoinTurn final : public WorkerPool::Task {
 public:
  JoinTurn(Engine& engine, const Device& device, std::string key, uint64_t ticket)
      : engine_(engine), device_(device), key_(std::move(key)), ticket_(ticket) {}

  void Run() override {
    const Concatenation& bounds = *device_.concatenation();
    JoinQueues::Queue& queue = *engine_.joins_->Find(device_);
    while (true) {
      std::vector<WaitingCall> calls =
          queue.Take(key_, ticket_, {.values = bounds.max_calls, .bytes = bounds.max_bytes});
      if (calls.empty()) return;
      engine_.RunJoined(std::move(calls));
    }
  }

 private:
  Engine& engine_;
  const Device& device_;
  const std::string key_;
  const uint64_t ticket_;
};

bool Engine::EnqueueJoinable(OneShot& shot, Admission::Place& place) {
  const SharedPlan plan = shot.plan;
  Device& device = *plan->device;
  JoinQueues::Queue* queue = joins_->Find(device);
  if (queue == nullptr) return false;
  // Memory of others is used where it lies.
  if (!shot.output_storages.empty() || shot.shared_storages > 0) return false;
  std::string key = JoinKey(plan->call, *device.concatenation());
  if (key.empty()) return false;
  const int64_t bytes = plan->call.input_bytes() + plan->call.output_bytes();
  const ClientId client = shot.client;
  const uint64_t ticket =
      queue->Add(key, {.shot = std::move(shot), .place = std::move(place)}, bytes);
  device.workers().Enqueue(
      std::make_unique<JoinTurn>(*this, device, std::move(key), ticket),
      plan->cost.time <= kTinyTime ? WorkerPool::Size::kTiny : WorkerPool::Size::kAny, client);
  return true;
}

void Engine::RunJoined(std::vector<WaitingCall> calls) {
  const absl::Time now = clock_.Now();
  for (WaitingCall& call : calls) {
    call.place.Start(now);
    EngineCounters::Add(counters_.queue_wait_ns, absl::ToInt64Nanoseconds(call.place.waited()));
  }
  const auto late = std::stable_partition(
      calls.begin(), calls.end(), [now](WaitingCall& call) { return IsTimely(call.shot, now); });
  const auto run_each = [&](auto begin, auto end) {
    for (auto call = begin; call != end; ++call)
      Run(std::move(call->shot), now, std::move(call->place));
  };
  run_each(late, calls.end());
  calls.erase(late, calls.end());
  if (calls.size() < 2) return run_each(calls.begin(), calls.end());
  absl::StatusOr<Outputs> outputs = ExecuteJoined(calls, now);
  // Each by itself tells whose the failure is.
  if (!outputs.ok()) return run_each(calls.begin(), calls.end());
  EndJoined(std::move(calls), *std::move(outputs));
}

absl::StatusOr<Outputs> Engine::ExecuteJoined(std::vector<WaitingCall>& calls, absl::Time now) {
  OneShot joined;
  int64_t elements = 0;
  joined.deadline = absl::InfinitePast();
  for (const WaitingCall& call : calls) {
    elements += JoinedElements(call.shot.plan->call);
    joined.deadline = std::max(joined.deadline, call.shot.deadline);
  }
  OPSERVE_ASSIGN_OR_RETURN(joined.plan, PlanOfAll(*calls.front().shot.plan, elements));
  joined.storages.resize(joined.plan->storages.size());
  for (const WaitingCall& call : calls) {
    const Plan& plan = *call.shot.plan;
    for (size_t i = 0; i < plan.storages.size(); ++i) {
      if (plan.call.inputs[i].has_value())
        AppendAll(call.shot.storages[static_cast<size_t>(plan.storages[i])], joined.storages[i]);
    }
  }
  joined.cancelled = [&calls] {
    return std::all_of(calls.begin(), calls.end(), [](WaitingCall& call) {
      return call.shot.cancelled && call.shot.cancelled();
    });
  };
  absl::StatusOr<Outputs> outputs = RunOneShot(joined, now, clock_);
  if (outputs.ok())
    EngineCounters::Add(counters_.execution_ns, absl::ToInt64Nanoseconds(clock_.Now() - now));
  return outputs;
}

void Engine::EndJoined(std::vector<WaitingCall> calls, Outputs joined) {
  std::vector<absl::StatusOr<Outputs>> results;
  int64_t first_element = 0;
  for (const WaitingCall& call : calls) {
    results.push_back(PartsOf(*call.shot.plan, joined, first_element));
    first_element += JoinedElements(call.shot.plan->call);
  }
  // Who hears of the end finds its memory and its place free.
  joined.clear();
  for (size_t i = 0; i < calls.size(); ++i) {
    const OpCall& op_call = calls[i].shot.plan->call;
    EngineCounters::Add(counters_.input_bytes, op_call.input_bytes());
    if (results[i].ok()) {
      EngineCounters::Add(counters_.output_bytes, op_call.output_bytes());
    } else {
      counters_.CountFailure(results[i].status().code());
    }
    calls[i].place = Admission::Place();
    calls[i].shot.done(std::move(results[i]));
  }
}

}  // namespace opserve
