#include "server/wire/batch_response.h"

#include <utility>

#include "google/protobuf/io/coded_stream.h"
#include "server/wire/output_codec.h"
#include "server/wire/raw_message.h"
#include "server/wire/shared_codec.h"

namespace opserve::server {
namespace {

using google::protobuf::io::CodedOutputStream;

constexpr uint32_t BytesTag(uint32_t field) { return field << 3 | 2; }
constexpr uint32_t kResultsTag = BytesTag(v1::ExecuteBatchResponse::kResultsFieldNumber);
constexpr uint32_t kOutputsTag = BytesTag(v1::BatchResult::kOutputsFieldNumber);
constexpr uint32_t kRawIndexTag = v1::Tensor::kRawIndexFieldNumber << 3;

// Of a tag of one byte and a length or a number.
constexpr size_t kMaxFramingBytes = 6;

// With its tag, of one byte.
size_t FieldBytes(size_t payload) { return 1 + CodedOutputStream::VarintSize64(payload) + payload; }

void AppendVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

}  // namespace

ResultForm::ResultForm(const OpCall& call, const v1::Call& request, v1::TensorEncoding encoding)
    : call_(&call), request_(&request), encoding_(encoding), max_bytes_(kMaxFramingBytes) {
  v1::ExecuteResponse described;
  EncodeOutputs(call, *described.mutable_outputs());
  EncodeSharedOutputs(request, call, *described.mutable_outputs());
  const OutputEncoder encoder(call, encoding, *described.mutable_outputs());
  max_bytes_ += encoder.values_bytes();
  for (const size_t raw : encoder.raw_sizes()) max_bytes_ += kMaxFramingBytes + raw;
  for (int i = 0; i < described.outputs_size(); ++i) {
    v1::Tensor& tensor = *described.mutable_outputs(i);
    const bool is_raw = tensor.has_raw_index();
    if (is_raw) tensor.clear_data();
    outputs_.push_back({tensor.SerializeAsString(), is_raw});
    max_bytes_ += 2 * kMaxFramingBytes + outputs_.back().tensor.size();
  }
}

void ResultForm::AppendRaw(uint32_t first_raw_index, std::string& results) const {
  const auto tensor_bytes = [](const Output& output, uint32_t index) {
    return output.tensor.size() +
           (output.is_raw ? 1 + CodedOutputStream::VarintSize32(index) : size_t{0});
  };
  size_t bytes = 0;
  uint32_t index = first_raw_index;
  for (const Output& output : outputs_) {
    bytes += FieldBytes(tensor_bytes(output, index));
    index += output.is_raw ? 1 : 0;
  }
  AppendVarint(kResultsTag, results);
  AppendVarint(bytes, results);
  index = first_raw_index;
  for (const Output& output : outputs_) {
    AppendVarint(kOutputsTag, results);
    AppendVarint(tensor_bytes(output, index), results);
    results.append(output.tensor);
    if (!output.is_raw) continue;
    AppendVarint(kRawIndexTag, results);
    AppendVarint(index++, results);
  }
}

void BatchResponseWriter::Add(const ResultForm& form, Outputs outputs) {
  if (form.encoding_ == v1::TENSOR_ENCODING_RAW) {
    form.AppendRaw(static_cast<uint32_t>(raw_.size()), results_);
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (form.outputs_[i].is_raw) raw_.push_back(std::move(outputs[i].bytes));
    }
    return;
  }
  v1::BatchResult result;
  TensorList& tensors = *result.mutable_outputs();
  EncodeOutputs(*form.call_, tensors);
  EncodeSharedOutputs(*form.request_, *form.call_, tensors);
  OutputEncoder(*form.call_, form.encoding_, tensors).Fill(std::move(outputs), tensors);
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
