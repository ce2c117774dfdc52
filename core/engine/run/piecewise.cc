#include "core/engine/run/piecewise.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/engine/run/kernel_run.h"
#include "core/engine/run/staging.h"

namespace opserve {
namespace {

absl::Status CheckCall(const OpCall& call, std::span<const bool> chunked) {
  const Operator& op = *call.op;
  if (op.runs_in_pieces == nullptr)
    return InvalidParameter("operator", "one that runs element by element", op.name);
  if (!op.runs_in_pieces(call)) {
    return InvalidParameter("operator",
                            "a call each of whose output elements comes from one element of each "
                            "input (of a loss: reduction none)",
                            "another");
  }
  if (!call.output(0).desc.IsPlain())
    return InvalidParameter(op.outputs[0].name, "dense, from its storage's start", "a view");
  if (chunked.size() != call.inputs.size() ||
      std::find(chunked.begin(), chunked.end(), true) == chunked.end()) {
    return InvalidParameter("chunked", "one input at least that comes in chunks", "none");
  }
  return absl::OkStatus();
}

absl::Status CheckDevice(const Plan& plan) {
  if (plan.device->runs_ranges()) return absl::OkStatus();
  return InvalidParameter("device", "one that makes outputs in pieces", plan.device->info().name);
}

absl::Status CheckChunkedInputs(const OpCall& call, std::span<const bool> chunked) {
  const Dims& shape = call.output(0).desc.shape;
  for (size_t i = 0; i < chunked.size(); ++i) {
    if (!chunked[i]) continue;
    const std::string_view name = call.op->inputs[i].name;
    if (!call.inputs[i].has_value()) return MissingParameter(name, "a tensor");
    if (!SameShape(call.inputs[i]->shape, shape)) {
      return ShapeMismatch(
          name, absl::StrCat("the output's shape ", ShapeToString(shape), ", as it is chunked"),
          ShapeToString(call.inputs[i]->shape));
    }
    if (!call.inputs[i]->IsPlain()) {
      return InvalidParameter(name, "dense, from its storage's start, as it is chunked", "a view");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckPlan(const Plan& plan, std::span<const bool> chunked) {
  OPSERVE_RETURN_IF_ERROR(CheckCall(plan.call, chunked));
  OPSERVE_RETURN_IF_ERROR(CheckDevice(plan));
  return CheckChunkedInputs(plan.call, chunked);
}

absl::Status CheckRange(const OpCall& call, ElementRange range) {
  const int64_t elements = call.output(0).desc.num_elements();
  if (range.begin >= 0 && range.count >= 0 && range.begin <= elements &&
      range.count <= elements - range.begin) {
    return absl::OkStatus();
  }
  return OutOfRange("range", absl::StrCat("elements of the output's ", elements),
                    absl::StrCat(range.count, " from ", range.begin, " on"));
}

absl::Status CheckBytes(const OpCall& call, ElementRange range, std::span<const bool> chunked,
                        std::span<const Fragments> inputs) {
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (!call.inputs[i].has_value()) continue;
    const std::string_view name = call.op->inputs[i].name;
    if (i >= inputs.size()) return MissingParameter(name, "its bytes");
    const auto bytes = static_cast<int64_t>(inputs[i].size_bytes());
    if (!chunked[i]) {
      OPSERVE_RETURN_IF_ERROR(CheckStorage(*call.inputs[i], bytes, name));
      continue;
    }
    const int64_t want = range.count * static_cast<int64_t>(DTypeSize(call.inputs[i]->dtype));
    if (bytes != want) {
      return ShapeMismatch(name, absl::StrCat(want, " bytes for ", range.count, " elements"),
                           absl::StrCat(bytes));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<PooledBuffer> Run(const Plan& plan, ElementRange range,
                                 std::span<const bool> chunked, std::span<const Fragments> inputs,
                                 ClientId client) {
  const OpCall& call = plan.call;
  const size_t bytes = static_cast<size_t>(range.count) * DTypeSize(call.output(0).desc.dtype);
  OPSERVE_ASSIGN_OR_RETURN(StagedOutput output, StagedOutput::Lease(*plan.device, bytes, client));
  KernelRun run(plan);
  OPSERVE_RETURN_IF_ERROR(run.LeaseScratch(client));
  const Workers workers(plan.device->workers());
  StagedInputs staged(*plan.device, workers, client);
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const std::optional<TensorDesc>& desc = call.inputs[i];
    OPSERVE_RETURN_IF_ERROR(staged.Add(desc.has_value() ? inputs[i] : Fragments(),
                                       desc.has_value() ? DTypeSize(desc->dtype) : 1));
  }
  run.SetInputs([&](size_t i) { return staged.start(i); });
  run.SetOutputs([&](size_t) { return output.start(); });
  OPSERVE_RETURN_IF_ERROR(run.Run(workers, range, chunked));
  return std::move(output).Fetch(workers);
}

absl::StatusOr<PooledBuffer> CheckAndRun(const Plan& plan, ElementRange range,
                                         std::span<const bool> chunked,
                                         std::span<const Fragments> inputs, ClientId client) {
  OPSERVE_RETURN_IF_ERROR(CheckPlan(plan, chunked));
  OPSERVE_RETURN_IF_ERROR(CheckRange(plan.call, range));
  OPSERVE_RETURN_IF_ERROR(CheckBytes(plan.call, range, chunked, inputs));
  if (range.count == 0) return PooledBuffer();
  return Run(plan, range, chunked, inputs, client);
}

bool BeginsTheCall(ElementRange range) { return range.begin == 0 && range.count > 0; }

bool EndsTheCall(const OpCall& call, ElementRange range) {
  return range.count > 0 && range.begin + range.count == call.output(0).desc.num_elements();
}

// That no piece before it had. What is not chunked is in the first.
int64_t InputBytes(ElementRange range, std::span<const bool> chunked,
                   std::span<const Fragments> inputs) {
  int64_t bytes = 0;
  for (size_t i = 0; i < std::min(chunked.size(), inputs.size()); ++i) {
    if (chunked[i] || BeginsTheCall(range)) bytes += static_cast<int64_t>(inputs[i].size_bytes());
  }
  return bytes;
}

}  // namespace

absl::Status CheckPiecewise(const Plan& plan, std::span<const bool> chunked) {
  return WithOperator(CheckPlan(plan, chunked), plan.call.op->name);
}

absl::StatusOr<PooledBuffer> RunPiece(const Plan& plan, ElementRange range,
                                      std::span<const bool> chunked,
                                      std::span<const Fragments> inputs, ClientId client,
                                      EngineCounters& counters) {
  EngineCounters::OfOperator& counts = counters.Of(*plan.call.op);
  if (BeginsTheCall(range)) EngineCounters::Add(counts.inline_calls, 1);
  const absl::Time start = counters.clock.Now();
  absl::StatusOr<PooledBuffer> piece = CheckAndRun(plan, range, chunked, inputs, client);
  EngineCounters::Add(counts.execution_ns, counters.clock.Now() - start);
  if (piece.ok()) {
    EngineCounters::Add(counts.input_bytes, InputBytes(range, chunked, inputs));
    EngineCounters::Add(counts.output_bytes, static_cast<int64_t>(piece->size()));
    if (EndsTheCall(plan.call, range)) counters.CountSuccesses(*plan.call.op, 1);
    return piece;
  }
  counters.CountFailure(*plan.call.op, piece.status().code());
  return WithOperator(piece.status(), plan.call.op->name);
}

}  // namespace opserve
