#include "server/open_inference/model_statistics.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "core/op/op_table.h"
#include "server/open_inference/model_codec.h"

namespace opserve::server {
namespace {

void Set(int64_t count, absl::Duration time, inference::StatisticDuration& out) {
  out.set_count(static_cast<uint64_t>(count));
  out.set_ns(static_cast<uint64_t>(std::max<int64_t>(absl::ToInt64Nanoseconds(time), 0)));
}

// Every part is there, as clients read them unasked.
void EncodeCalls(const OperatorStatistics& calls, inference::ModelStatistics& out) {
  const int64_t succeeded = calls.ended[static_cast<size_t>(absl::StatusCode::kOk)];
  out.set_inference_count(static_cast<uint64_t>(succeeded));
  out.set_execution_count(static_cast<uint64_t>(succeeded));
  if (succeeded > 0)
    out.set_last_inference(static_cast<uint64_t>(absl::ToUnixMillis(calls.last_success)));
  inference::InferStatistics& of = *out.mutable_inference_stats();
  // Times are those of all calls: how long failed ones took is not counted by itself.
  Set(succeeded, calls.queue_wait + calls.execution, *of.mutable_success());
  Set(calls.failed_calls, absl::ZeroDuration(), *of.mutable_fail());
  Set(calls.calls, calls.queue_wait, *of.mutable_queue());
  Set(succeeded, absl::ZeroDuration(), *of.mutable_compute_input());
  Set(succeeded, calls.execution, *of.mutable_compute_infer());
  Set(succeeded, absl::ZeroDuration(), *of.mutable_compute_output());
  Set(0, absl::ZeroDuration(), *of.mutable_cache_hit());
  Set(0, absl::ZeroDuration(), *of.mutable_cache_miss());
}

void Encode(const EngineStatistics& statistics, const Operator& op,
            inference::ModelStatistics& out) {
  out.set_name(std::string(op.name));
  out.set_version(std::string(kModelVersion));
  const auto found =
      std::find_if(statistics.operators.begin(), statistics.operators.end(),
                   [&op](const OperatorStatistics& each) { return each.op == op.name; });
  EncodeCalls(found == statistics.operators.end() ? OperatorStatistics() : *found, out);
}

}  // namespace

inference::ModelStatisticsResponse EncodeModelStatistics(const EngineStatistics& statistics,
                                                         const Operator* op) {
  inference::ModelStatisticsResponse out;
  if (op != nullptr) {
    Encode(statistics, *op, *out.add_model_stats());
    return out;
  }
  for (const Operator* each : AllOperators()) Encode(statistics, *each, *out.add_model_stats());
  return out;
}

}  // namespace opserve::server
