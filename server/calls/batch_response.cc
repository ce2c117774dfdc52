#include "server/calls/batch_response.h"

#include <utility>

#include "server/codec/wire_format.h"

namespace opserve::server {
namespace {

constexpr uint32_t kResultsTag = BytesTag(v1::ExecuteBatchResponse::kResultsFieldNumber);

}  // namespace

void BatchResponseWriter::Add(const ResultForm& form, Outputs outputs, const CallTimes& times) {
  if (form.is_raw()) {
    AppendResult(form, times);
    return form.AddRaw(std::move(outputs), raw_);
  }
  v1::BatchResult result;
  form.FillTensors(std::move(outputs), *result.mutable_outputs());
  if (form.reports_execution()) *result.mutable_execution() = form.Execution(times);
  AppendMessage(kResultsTag, result, results_);
}

void BatchResponseWriter::Add(const ResultForm& form, const SeriesOutputs& outputs, size_t index,
                              const CallTimes& times) {
  AppendResult(form, times);
  form.AddRaw(outputs, index, raw_);
}

void BatchResponseWriter::AppendResult(const ResultForm& form, const CallTimes& times) {
  const std::string execution = form.ExecutionField(times);
  AppendStart(kResultsTag, form.OutputsBytes(raw_.entries()) + execution.size(), results_);
  form.AppendOutputs(raw_.entries(), results_);
  results_.append(execution);
}

void BatchResponseWriter::AddError(const absl::Status& status) {
  v1::BatchResult result;
  *result.mutable_error() = EncodeStatusDetails(status);
  AppendMessage(kResultsTag, result, results_);
}

WrittenMessage BatchResponseWriter::Write() && {
  return std::move(raw_).WriteAfter(std::move(results_));
}

}  // namespace opserve::server
