#include "server/codec/output_codec.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "server/codec/tensor_codec.h"

namespace opserve::server {

absl::StatusOr<v1::TensorEncoding> DecodeEncoding(int number) {
  if (number == v1::TENSOR_ENCODING_UNSPECIFIED) return v1::TENSOR_ENCODING_RAW;
  if (v1::TensorEncoding_IsValid(number)) return static_cast<v1::TensorEncoding>(number);
  return OutOfRange("output_encoding", "a TensorEncoding of the API",
                    absl::StrCat("the number ", number));
}

void EncodeOutputs(const OpCall& call, TensorList& outputs) {
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    const TensorDesc& desc = call.outputs[i].desc;
    v1::Tensor& out = *outputs.Add();
    out.set_name(std::string(call.op->outputs[i].name));
    out.set_dtype(EncodeDType(desc.dtype));
    out.mutable_shape()->Add(desc.shape.begin(), desc.shape.end());
  }
}

OutputEncoder::OutputEncoder(const OpCall& call, v1::TensorEncoding encoding, TensorList& outputs)
    : encoding_(encoding) {
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    const OutputSlot& output = call.outputs[i];
    wanted_.push_back(output.wanted && !outputs[static_cast<int>(i)].has_shared());
    if (!wanted_.back()) continue;
    if (encoding == v1::TENSOR_ENCODING_RAW) {
      outputs[static_cast<int>(i)].set_raw_index(static_cast<uint32_t>(raw_sizes_.size()));
      raw_sizes_.push_back(static_cast<size_t>(output.desc.size_bytes()));
    } else {
      values_bytes_ += EncodedValuesBytes(output.desc.dtype, output.desc.num_elements());
    }
  }
}

std::vector<PooledBuffer> OutputEncoder::Fill(Outputs results, TensorList& outputs) const {
  std::vector<PooledBuffer> raw;
  raw.reserve(raw_sizes_.size());
  for (size_t i = 0; i < results.size(); ++i) {
    OutputTensor& result = results[i];
    if (!wanted_[i]) continue;
    if (encoding_ == v1::TENSOR_ENCODING_RAW) {
      raw.push_back(std::move(result.bytes));
    } else {
      EncodeValues(result.desc.dtype, result.bytes.data(), result.desc.num_elements(),
                   *outputs[static_cast<int>(i)].mutable_values());
    }
  }
  return raw;
}

absl::Status CheckAnswerSize(const OpCall& call, size_t bytes, int64_t max_message_bytes) {
  if (bytes <= static_cast<size_t>(max_message_bytes)) return absl::OkStatus();
  return MakeError({.reason = ErrorReason::kResourceLimit,
                    .op = std::string(call.op->name),
                    .parameter = "max_message_bytes",
                    .want = absl::StrCat("an answer of at most ", max_message_bytes, " bytes"),
                    .got = absl::StrCat(bytes, " bytes")});
}

}  // namespace opserve::server
