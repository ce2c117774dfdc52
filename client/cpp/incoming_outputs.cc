#include "client/cpp/incoming_outputs.h"

#include <cstring>
#include <utility>

#include "client/cpp/read_message.h"
#include "core/base/status_macros.h"

namespace opserve::client {

void IncomingOutputs::Expect(std::vector<PlannedOutput> outputs) {
  for (PlannedOutput& plan : outputs) {
    const int64_t size = plan.desc.size_bytes();
    auto bytes = sink_ ? nullptr : AllocateTensorBytes(static_cast<size_t>(size));
    outputs_.push_back({std::move(plan), std::move(bytes), Inflow(size)});
  }
}

absl::Status IncomingOutputs::Receive(const SessionAnswer& chunk) {
  for (Output& output : outputs_) {
    if (output.plan.name != chunk.message.chunk().output()) continue;
    return output.inflow.Receive(chunk, [&](int64_t offset, std::span<const std::byte> bytes) {
      if (sink_) return sink_(output.plan, offset, bytes);
      std::memcpy(output.bytes.get() + offset, bytes.data(), bytes.size());
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

}  // namespace opserve::client
