#include "core/engine/run/join_queue.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/batch/joined_call.h"
#include "core/engine/plan/scheduling.h"
#include "core/engine/run/kernel_run.h"
#include "core/engine/run/one_shot_run.h"
#include "core/engine/run/timely.h"

namespace opserve {
namespace {

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

// The part of a joined output that is one call's, and from then on its client's.
absl::StatusOr<PooledBuffer> Part(Device& device, ClientId client, const PooledBuffer& joined,
                                  size_t offset, size_t bytes) {
  OPSERVE_ASSIGN_OR_RETURN(PooledBuffer part,
                           device.host_memory().Acquire(bytes, {.client = client}));
  std::memcpy(part.data(), joined.data() + offset, bytes);
  return part;
}

absl::StatusOr<Outputs> PartsOf(const OneShot& shot, const Outputs& joined, int64_t first_element) {
  const Plan& plan = *shot.plan;
  Outputs outputs;
  for (size_t i = 0; i < joined.size(); ++i) {
    const TensorDesc& desc = plan.call.outputs[i].desc;
    const size_t offset = static_cast<size_t>(first_element) * DTypeSize(desc.dtype);
    absl::StatusOr<PooledBuffer> bytes = Part(*plan.device, shot.client, joined[i].bytes, offset,
                                              static_cast<size_t>(desc.size_bytes()));
    if (!bytes.ok()) return WithOperator(bytes.status(), plan.call.op->name);
    outputs.push_back({joined[i].name, desc, *std::move(bytes)});
  }
  return outputs;
}

}  // namespace

// The turn of a call that waits to be joined.
class JoinQueue::Turn final : public WorkerPool::Task {
 public:
  Turn(JoinQueue& queue, std::string key, uint64_t ticket)
      : queue_(queue), key_(std::move(key)), ticket_(ticket) {}

  void Run() override {
    const Concatenation& bounds = *queue_.device_.concatenation();
    std::vector<Waiting> calls = queue_.waiting_.Take(
        key_, ticket_, {.values = bounds.max_calls, .bytes = bounds.max_bytes});
    if (!calls.empty()) queue_.Run(std::move(calls));
  }

 private:
  JoinQueue& queue_;
  const std::string key_;
  const uint64_t ticket_;
};

bool JoinQueue::Enqueue(OneShot& shot, Admission::Place& place) {
  // Memory of others is used where it lies.
  if (!shot.output_storages.empty() || shot.shared_storages > 0) return false;
  const SharedPlan plan = shot.plan;
  std::string key = JoinKey(plan->call, *device_.concatenation());
  if (key.empty()) return false;
  const int64_t bytes = plan->call.input_bytes() + plan->call.output_bytes();
  const ClientId client = shot.client;
  const uint64_t ticket =
      waiting_.Add(key, {.shot = std::move(shot), .place = std::move(place)}, bytes);
  device_.workers().Enqueue(
      std::make_unique<Turn>(*this, std::move(key), ticket),
      plan->cost.time <= kTinyTime ? WorkerPool::Size::kTiny : WorkerPool::Size::kAny, client);
  return true;
}

void JoinQueue::Run(std::vector<Waiting> calls) {
  const absl::Time now = counters_.clock.Now();
  for (Waiting& call : calls) EndWait(call.shot, call.place, now, counters_);
  const auto late = std::stable_partition(calls.begin(), calls.end(), [now](Waiting& call) {
    return CheckTimely(call.shot, now).ok();
  });
  const auto run_each = [&](auto begin, auto end) {
    for (auto call = begin; call != end; ++call) {
      OneShot shot = std::move(call->shot);
      RunOneShot(shot, now, std::move(call->place), counters_);
    }
  };
  run_each(late, calls.end());
  calls.erase(late, calls.end());
  if (calls.size() < 2) return run_each(calls.begin(), calls.end());
  absl::StatusOr<Outputs> outputs = Execute(calls, now);
  // Each by itself tells whose the failure is.
  if (!outputs.ok()) return run_each(calls.begin(), calls.end());
  End(std::move(calls), *std::move(outputs));
}

absl::StatusOr<Outputs> JoinQueue::Execute(std::vector<Waiting>& calls, absl::Time now) {
  OneShot joined;
  int64_t elements = 0;
  joined.deadline = absl::InfinitePast();
  for (const Waiting& call : calls) {
    elements += JoinedElements(call.shot.plan->call);
    joined.deadline = std::max(joined.deadline, call.shot.deadline);
  }
  OPSERVE_ASSIGN_OR_RETURN(joined.plan, PlanOfAll(*calls.front().shot.plan, elements));
  joined.storages.resize(joined.plan->storages.size());
  for (const Waiting& call : calls) {
    const Plan& plan = *call.shot.plan;
    for (size_t i = 0; i < plan.storages.size(); ++i) {
      if (plan.call.inputs[i].has_value())
        AppendAll(call.shot.storages[static_cast<size_t>(plan.storages[i])], joined.storages[i]);
    }
  }
  joined.cancelled = [&calls] {
    return std::all_of(calls.begin(), calls.end(),
                       [](Waiting& call) { return call.shot.cancelled && call.shot.cancelled(); });
  };
  absl::StatusOr<Outputs> outputs = ExecuteOneShot(joined, now, counters_.clock);
  if (!outputs.ok()) return outputs;
  const absl::Duration executed = counters_.clock.Now() - now;
  const Operator& op = *joined.plan->call.op;
  EngineCounters::Add(counters_.Of(op).execution_ns, executed);
  const auto count = static_cast<int64_t>(calls.size());
  counters_.CountExecutions(op, executed / count, count);
  for (const Waiting& call : calls) {
    if (call.shot.times != nullptr) call.shot.times->executed = executed / count;
  }
  return outputs;
}

void JoinQueue::End(std::vector<Waiting> calls, Outputs joined) {
  std::vector<absl::StatusOr<Outputs>> results;
  int64_t first_element = 0;
  for (const Waiting& call : calls) {
    results.push_back(PartsOf(call.shot, joined, first_element));
    first_element += JoinedElements(call.shot.plan->call);
  }
  // Who hears of the end finds its memory and its place free.
  joined.clear();
  for (size_t i = 0; i < calls.size(); ++i) {
    const OpCall& call = calls[i].shot.plan->call;
    counters_.CountOutcome(call, call.input_bytes(), results[i].status());
    calls[i].place = Admission::Place();
    calls[i].shot.done(std::move(results[i]));
  }
}

}  // namespace opserve
