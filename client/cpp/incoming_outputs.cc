#include "client/cpp/incoming_outputs.h"

#include <cstring>
#include <utility>

#include "client/cpp/read_message.h"
#include "core/base/status_macros.h"

namespace opserve::client {

void IncomingOutputs::Expect(std::vector<PlannedOutput> outputs) {
  const MutexLock lock(mutex_);
  Add(std::move(outputs));
}

void IncomingOutputs::Add(std::vector<PlannedOutput> outputs) {
  for (PlannedOutput& plan : outputs) {
    const int64_t size = plan.desc.size_bytes();
    auto bytes = sink_ ? nullptr : AllocateTensorBytes(static_cast<size_t>(size));
    outputs_.push_back({std::move(plan), std::move(bytes), Inflow(size)});
  }
}

void IncomingOutputs::OnAnswer(const SessionAnswer& answer) {
  const MutexLock lock(mutex_);
  if (status_.ok()) status_ = answer.status.ok() ? Read(answer) : answer.status;
  if (!status_.ok()) failed_.store(true, std::memory_order_relaxed);
  if (answer.last) result_.Set(status_.ok() ? Finish() : absl::StatusOr<ExecuteResult>(status_));
}

absl::Status IncomingOutputs::Read(const SessionAnswer& answer) {
  if (answer.message.has_chunk()) return Receive(answer);
  std::vector<PlannedOutput> plans;
  for (const v1::Tensor& output : answer.message.outputs().outputs()) {
    OPSERVE_ASSIGN_OR_RETURN(TensorDesc desc, ReadDesc(output, "ExecuteOutputs"));
    plans.push_back({output.name(), std::move(desc)});
  }
  Add(std::move(plans));
  return absl::OkStatus();
}

absl::Status IncomingOutputs::Receive(const SessionAnswer& chunk) {
  for (Output& output : outputs_) {
    if (output.plan.name != chunk.message.chunk().output()) continue;
    std::byte* const memory = output.bytes.get();
    OutputSink* const sink = &sink_;
    const PlannedOutput& plan = output.plan;
    return output.inflow.Receive(chunk,
                                 [=, &plan](int64_t offset, std::span<const std::byte> bytes) {
                                   if (memory == nullptr) return (*sink)(plan, offset, bytes);
                                   std::memcpy(memory + offset, bytes.data(), bytes.size());
                                   return absl::OkStatus();
                                 });
  }
  return BadAnswer("OutputChunk", "no output of that name");
}

absl::StatusOr<ExecuteResult> IncomingOutputs::Finish() {
  ExecuteResult result;
  for (Output& output : outputs_) {
    OPSERVE_RETURN_IF_ERROR(output.inflow.CheckComplete());
    result.outputs.push_back({output.plan.name, Tensor(output.plan.desc, std::move(output.bytes))});
  }
  return result;
}

std::optional<absl::StatusOr<ExecuteResult>> IncomingOutputs::Wait(absl::Time deadline) {
  std::optional<absl::StatusOr<ExecuteResult>> result = result_.Wait(deadline);
  if (result.has_value()) return result;
  const MutexLock lock(mutex_);
  if (status_.ok()) status_ = absl::CancelledError("nobody waits for it any more");
  return std::nullopt;
}

}  // namespace opserve::client
