#include "server/wire/batch_response.h"

#include <utility>

#include "server/wire/raw_message.h"
#include "server/wire/varint.h"

namespace opserve::server {
namespace {

constexpr uint32_t kResultsTag = BytesTag(v1::ExecuteBatchResponse::kResultsFieldNumber);

}  // namespace

void BatchResponseWriter::Add(const ResultForm& form, Outputs outputs) {
  if (form.is_raw()) {
    const auto first_raw = static_cast<uint32_t>(raw_.size());
    AppendVarint(kResultsTag, results_);
    AppendVarint(form.OutputsBytes(first_raw), results_);
    form.AppendOutputs(first_raw, results_);
    return form.TakeRaw(std::move(outputs), raw_);
  }
  v1::BatchResult result;
  form.FillTensors(std::move(outputs), *result.mutable_outputs());
  AddMessage(result);
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
  return WriteSplitMessage(std::move(results_), v1::ExecuteBatchResponse::kRawFieldNumber,
                           std::move(raw_));
}

}  // namespace opserve::server
