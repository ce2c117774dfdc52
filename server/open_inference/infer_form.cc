#include "server/open_inference/infer_form.h"

#include <utility>

#include "inference/open_inference.pb.h"
#include "server/codec/wire_format.h"
#include "server/open_inference/datatype.h"
#include "server/open_inference/model_codec.h"

namespace opserve::server {
namespace {

using inference::ModelInferResponse;

void Describe(const OutputSlot& output, std::string_view name,
              ModelInferResponse::InferOutputTensor& out) {
  out.set_name(std::string(name));
  out.set_datatype(std::string(DatatypeName(output.desc.dtype)));
  out.mutable_shape()->Add(output.desc.shape.begin(), output.desc.shape.end());
}

}  // namespace

InferForm::InferForm(const OpCall& call,
                     const google::protobuf::RepeatedPtrField<v1::Tensor>& asked,
                     absl::Duration timeout)
    : timeout_(timeout) {
  if (asked.empty()) {
    for (size_t i = 0; i < call.outputs.size(); ++i) entries_.push_back(i);
  }
  for (const v1::Tensor& output : asked)
    entries_.push_back(static_cast<size_t>(call.op->FindOutput(output.name())));
  ModelInferResponse begin;
  begin.set_model_name(std::string(call.op->name));
  begin.set_model_version(std::string(kModelVersion));
  begin_ = begin.SerializeAsString();
  ModelInferResponse end;
  for (const size_t i : entries_) {
    const OutputSlot& output = call.outputs[i];
    Describe(output, call.op->outputs[i].name, *end.add_outputs());
    raw_bytes_ += FieldBytes(output.wanted ? static_cast<size_t>(output.desc.size_bytes()) : 0);
  }
  end_ = end.SerializeAsString();
}

size_t InferForm::max_response_bytes(size_t id_bytes) const {
  return begin_.size() + FieldBytes(id_bytes) + end_.size() + raw_bytes_;
}

WrittenMessage InferForm::Write(std::string_view id, Outputs outputs) const {
  std::string header = begin_;
  if (!id.empty()) {
    AppendStart(BytesTag(ModelInferResponse::kIdFieldNumber), id.size(), header);
    header.append(id);
  }
  header.append(end_);
  RawWriter raw(ModelInferResponse::kRawOutputContentsFieldNumber);
  // Each output was asked for once. Clients count on an entry for each, empty ones too.
  for (const size_t i : entries_) raw.Add(std::move(outputs[i].bytes));
  return std::move(raw).WriteAfter(std::move(header));
}

}  // namespace opserve::server
