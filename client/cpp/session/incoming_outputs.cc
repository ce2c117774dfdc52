#include "client/cpp/session/incoming_outputs.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cpp/wire/answered_outputs.h"
#include "client/cpp/wire/read_message.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/tensor/shape.h"

namespace opserve::client {

namespace {

constexpr std::string_view kDescription = "ExecuteOutputs";

absl::Status TooLarge(std::string_view want, int64_t bytes) {
  return MakeError({.reason = ErrorReason::kResourceLimit,
                    .op = {},
                    .parameter = "outputs",
                    .want = std::string(want),
                    .got = absl::StrCat(bytes, " bytes")});
}

int64_t TotalBytes(const std::vector<PlannedOutput>& outputs) {
  int64_t bytes = 0;
  for (const PlannedOutput& plan : outputs) bytes += plan.desc.size_bytes();
  return bytes;
}

}  // namespace

absl::Status IncomingOutputs::Expect(std::vector<PlannedOutput> outputs, int64_t max_bytes) {
  const MutexLock lock(mutex_);
  const int64_t bytes = TotalBytes(outputs);
  if (!sink_ && bytes > max_bytes)
    return TooLarge(absl::StrCat("a sink, or at most ", max_bytes, " bytes (max_bytes)"), bytes);
  return Add(std::move(outputs));
}

void IncomingOutputs::ExpectOne(Dims shape, AskedOutputs asked) {
  const MutexLock lock(mutex_);
  one_ = One{std::move(shape), std::move(asked)};
}

absl::Status IncomingOutputs::Add(std::vector<PlannedOutput> outputs) {
  for (PlannedOutput& plan : outputs) {
    const int64_t size = plan.desc.size_bytes();
    auto bytes = sink_ ? nullptr : TryAllocateTensorBytes(static_cast<size_t>(size));
    if (!sink_ && bytes == nullptr) return TooLarge("memory for them", size);
    outputs_.push_back({std::move(plan), std::move(bytes), Inflow(size)});
  }
  return absl::OkStatus();
}

void IncomingOutputs::OnAnswer(SessionAnswer& answer) {
  const MutexLock lock(mutex_);
  if (status_.ok()) status_ = answer.status.ok() ? Read(answer) : answer.status;
  if (!status_.ok()) failed_.store(true, std::memory_order_relaxed);
  if (answer.last) result_.Set(status_.ok() ? Finish() : absl::StatusOr<ExecuteResult>(status_));
}

absl::Status IncomingOutputs::Read(SessionAnswer& answer) {
  if (answer.message.has_chunk()) return Receive(answer);
  if (answer.message.has_outputs()) answer.objection = Describe(answer.message.outputs());
  return answer.objection;
}

absl::Status IncomingOutputs::Describe(const v1::ExecuteOutputs& outputs) {
  if (!one_.has_value() || outputs.outputs_size() != 1)
    return BadAnswer(kDescription, "outputs", "one, once", "others");
  OPSERVE_ASSIGN_OR_RETURN(std::vector<PlannedOutput> plans,
                           ReadPlannedOutputs(kDescription, outputs.outputs(), one_->asked));
  if (!SameShape(plans[0].desc.shape, one_->shape)) {
    return BadAnswer(kDescription, plans[0].name, "shape " + ShapeToString(one_->shape),
                     ShapeToString(plans[0].desc.shape));
  }
  one_.reset();
  return Add(std::move(plans));
}

absl::Status IncomingOutputs::Receive(SessionAnswer& chunk) {
  const std::string& name = chunk.message.chunk().output();
  const auto output = std::find_if(outputs_.begin(), outputs_.end(), [&name](const Output& known) {
    return known.plan.name == name;
  });
  if (output == outputs_.end()) {
    chunk.objection =
        BadAnswer("OutputChunk", "output", "the name of an output that was described before",
                  absl::StrCat("'", name, "'"));
    return chunk.objection;
  }
  OPSERVE_RETURN_IF_ERROR(output->inflow.Accept(chunk));
  std::byte* const memory = output->bytes.get();
  OutputSink* const sink = &sink_;
  const PlannedOutput& plan = output->plan;
  return Inflow::HandOn(chunk, [=, &plan](int64_t offset, std::span<const std::byte> bytes) {
    if (memory == nullptr) return (*sink)(plan, offset, bytes);
    std::memcpy(memory + offset, bytes.data(), bytes.size());
    return absl::OkStatus();
  });
}

absl::StatusOr<ExecuteResult> IncomingOutputs::Finish() {
  if (one_.has_value()) return BadAnswer(kDescription, "outputs", "one", "none");
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
  if (status_.ok()) status_ = absl::CancelledError("the wait for the outputs was given up");
  return std::nullopt;
}

}  // namespace opserve::client
