#include "server/calls/result_form.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "google/protobuf/io/coded_stream.h"
#include "server/calls/shared_storages.h"
#include "server/codec/wire_format.h"

namespace opserve::server {
namespace {

using google::protobuf::io::CodedOutputStream;

constexpr uint32_t kOutputsTag = BytesTag(v1::ExecuteResponse::kOutputsFieldNumber);
static_assert(kOutputsTag == BytesTag(v1::BatchResult::kOutputsFieldNumber));

constexpr uint32_t kExecutionTag = BytesTag(v1::ExecuteResponse::kExecutionFieldNumber);
static_assert(kExecutionTag == BytesTag(v1::BatchResult::kExecutionFieldNumber));

static_assert(BytesTag(v1::ExecuteResponse::kRawFieldNumber) < 0x80, "for FieldBytes");

// Of a tag of one byte and a length or a number.
constexpr size_t kMaxFramingBytes = 6;

}  // namespace

ResultForm::ResultForm(const OpCall& call, const v1::Call* sharing, ResultOptions options)
    : call_(&call),
      sharing_(sharing),
      options_(std::move(options)),
      max_batched_bytes_(kMaxFramingBytes) {
  v1::ExecuteResponse described;
  TensorList& tensors = *described.mutable_outputs();
  Describe(tensors);
  const OutputEncoder encoder(call, options_.encoding, tensors);
  values_bytes_ = encoder.values_bytes();
  max_response_bytes_ = described.ByteSizeLong() + values_bytes_;
  max_batched_bytes_ += values_bytes_;
  for (const size_t raw : encoder.raw_sizes()) {
    max_response_bytes_ += FieldBytes(raw);
    max_batched_bytes_ += kMaxFramingBytes + raw;
  }
  for (int i = 0; i < tensors.size(); ++i) {
    const bool is_raw = tensors[i].has_raw_index();
    if (is_raw) tensors[i].clear_data();
    outputs_.push_back({tensors[i].SerializeAsString(), is_raw});
    max_batched_bytes_ += 2 * kMaxFramingBytes + outputs_.back().tensor.size();
  }
  const size_t execution =
      ExecutionField({absl::InfiniteDuration(), absl::InfiniteDuration()}).size();
  max_response_bytes_ += execution;
  max_batched_bytes_ += execution;
}

v1::Execution ResultForm::Execution(const CallTimes& times) const {
  v1::Execution execution;
  execution.set_device(options_.reported_device);
  execution.set_queued_ns(absl::ToInt64Nanoseconds(times.queued));
  execution.set_executed_ns(absl::ToInt64Nanoseconds(times.executed));
  return execution;
}

std::string ResultForm::ExecutionField(const CallTimes& times) const {
  std::string field;
  if (!reports_execution()) return field;
  AppendMessage(kExecutionTag, Execution(times), field);
  return field;
}

void ResultForm::Describe(TensorList& tensors) const {
  EncodeOutputs(*call_, tensors);
  if (sharing_ != nullptr) EncodeSharedOutputs(*sharing_, *call_, tensors);
}

size_t ResultForm::TensorBytes(const Output& output, uint32_t raw_index) {
  return output.tensor.size() +
         (output.is_raw ? 1 + CodedOutputStream::VarintSize32(raw_index) : size_t{0});
}

size_t ResultForm::OutputsBytes(uint32_t first_raw) const {
  size_t bytes = 0;
  uint32_t index = first_raw;
  for (const Output& output : outputs_) {
    bytes += FieldBytes(TensorBytes(output, index));
    index += output.is_raw ? 1 : 0;
  }
  return bytes;
}

void ResultForm::AppendOutputs(uint32_t first_raw, std::string& message) const {
  uint32_t index = first_raw;
  for (const Output& output : outputs_) {
    AppendStart(kOutputsTag, TensorBytes(output, index), message);
    message.append(output.tensor);
    if (!output.is_raw) continue;
    AppendVarint(TagOf(v1::Tensor::kRawIndexFieldNumber, kVarint), message);
    AppendVarint(index++, message);
  }
}

void ResultForm::AddRaw(Outputs outputs, RawWriter& raw) const {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs_[i].is_raw) raw.Add(std::move(outputs[i].bytes));
  }
}

void ResultForm::AddRaw(const SeriesOutputs& outputs, size_t index, RawWriter& raw) const {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].is_raw) raw.AddCopy(outputs.at(index, i));
  }
}

std::vector<PooledBuffer> ResultForm::FillTensors(Outputs outputs, TensorList& tensors) const {
  Describe(tensors);
  return OutputEncoder(*call_, options_.encoding, tensors).Fill(std::move(outputs), tensors);
}

absl::Duration ValuesTime(size_t values_bytes) {
  constexpr int64_t kNanosecondsPerByte = 3;
  return absl::Nanoseconds(static_cast<int64_t>(values_bytes) * kNanosecondsPerByte);
}

absl::Status CheckValues(const OpCall& call, size_t values_bytes, size_t left) {
  if (values_bytes <= left) return absl::OkStatus();
  return MakeError({.reason = ErrorReason::kResourceLimit,
                    .op = std::string(call.op->name),
                    .parameter = "output_encoding",
                    .want = absl::StrCat("at most ", left,
                                         " bytes of values in an answer (RAW has no such bound)"),
                    .got = absl::StrCat(values_bytes)});
}

WrittenMessage WriteExecuteResponse(const ResultForm& form, Outputs outputs,
                                    const CallTimes& times) {
  if (!form.is_raw()) {
    v1::ExecuteResponse response;
    form.FillTensors(std::move(outputs), *response.mutable_outputs());
    if (form.reports_execution()) *response.mutable_execution() = form.Execution(times);
    return {.begin = response.SerializeAsString(), .entries = {}};
  }
  std::string header;
  form.AppendOutputs(0, header);
  header.append(form.ExecutionField(times));
  RawWriter raw(v1::ExecuteResponse::kRawFieldNumber);
  form.AddRaw(std::move(outputs), raw);
  return std::move(raw).WriteAfter(std::move(header));
}

}  // namespace opserve::server
