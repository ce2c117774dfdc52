#include "server/wire/batch_response.h"

#include <utility>

#include "server/wire/wire_format.h"

namespace opserve::server {
namespace {

constexpr uint32_t kResultsTag = BytesTag(v1::ExecuteBatchResponse::kResultsFieldNumber);

}  // namespace

void BatchResponseWriter::Add(const ResultForm& form, Outputs outputs) {
  if (form.is_raw()) {
    AppendResult(form);
    return form.AddRaw(std::move(outputs), raw_);
  }
  v1::BatchResult result;
  form.FillTensors(std::move(outputs), *result.mutable_outputs());
  AddMessage(result);
}

void BatchResponseWriter::Add(const ResultForm& form, const SeriesOutputs& outputs, size_t index) {
  AppendResult(form);
  form.AddRaw(outputs, index, raw_);
}

void BatchResponseWriter::AppendResult(const ResultForm& form) {
  AppendVarint(kResultsTag, results_);
  AppendVarint(form.OutputsBytes(raw_.entries()), results_);
  form.AppendOutputs(raw_.entries(), results_);
}

void BatchResponseWriter::AddError(const absl::Status& status) {
  v1::BatchResult result;
  *result.mutable_error() = EncodeStatusDetails(status);
  AddMessage(result);
}

void BatchResponseWriter::AddMessage(const v1::BatchResult& result) {
  AppendVarint(kResultsTag, results_);
  AppendVarint(result.ByteSizeLong(), results_);
  result.AppendToString(&results_);
}

grpc::ByteBuffer BatchResponseWriter::Write() && {
  return std::move(raw_).WriteAfter(std::move(results_));
}

}  // namespace opserve::server
