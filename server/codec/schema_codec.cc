#include "server/codec/schema_codec.h"

#include <optional>
#include <string>
#include <vector>

#include "core/base/op_error.h"
#include "core/op/op_table.h"
#include "core/op/profile.h"
#include "google/protobuf/repeated_field.h"
#include "server/codec/attribute_codec.h"
#include "server/codec/tensor_codec.h"

namespace opserve::server {
namespace {

void EncodeDTypes(DTypeSet dtypes, google::protobuf::RepeatedField<int>& out) {
  for (int i = 1; i < kNumDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (dtypes.Contains(dtype)) out.Add(EncodeDType(dtype));
  }
}

v1::AttributeKind EncodeKind(AttributeKind kind) {
  switch (kind) {
    case AttributeKind::kInt:
      return v1::ATTRIBUTE_KIND_INT;
    case AttributeKind::kFloat:
      return v1::ATTRIBUTE_KIND_FLOAT;
    case AttributeKind::kBool:
      return v1::ATTRIBUTE_KIND_BOOL;
    case AttributeKind::kIntList:
      return v1::ATTRIBUTE_KIND_INT_LIST;
    case AttributeKind::kBoolList:
      return v1::ATTRIBUTE_KIND_BOOL_LIST;
    case AttributeKind::kScalar:
      return v1::ATTRIBUTE_KIND_SCALAR;
  }
  return v1::ATTRIBUTE_KIND_UNSPECIFIED;
}

void EncodeTensorParam(const TensorParam& param, v1::TensorParameter& out) {
  out.set_name(std::string(param.name));
  out.set_summary(std::string(param.summary));
  out.set_optional(param.presence == Presence::kOptional);
  out.set_shape(std::string(param.shape));
  EncodeDTypes(param.dtypes, *out.mutable_dtypes());
}

void EncodeRange(const AttributeRange& range, v1::AttributeRange& out) {
  if (range.minimum.has_value()) out.set_minimum(*range.minimum);
  if (range.maximum.has_value()) out.set_maximum(*range.maximum);
  out.set_minimum_excluded(range.minimum_excluded);
  out.set_maximum_excluded(range.maximum_excluded);
}

void EncodeAttributeParam(const AttributeParam& param, v1::AttributeParameter& out) {
  out.set_name(std::string(param.name));
  out.set_summary(std::string(param.summary));
  out.set_kind(EncodeKind(param.kind));
  for (const AttributeChoice& choice : param.choices) {
    v1::AttributeChoice& encoded = *out.add_choices();
    encoded.set_value(choice.value);
    encoded.set_name(std::string(choice.name));
    encoded.set_summary(std::string(choice.summary));
  }
  if (param.range.has_value()) EncodeRange(*param.range, *out.mutable_range());
  out.set_list_length(param.list_length);
  const AttributeValue value = param.default_value.ToValue();
  if (!IsGiven(value)) return;
  out.mutable_default_value()->set_name(std::string(param.name));
  EncodeAttribute(value, *out.mutable_default_value());
}

void EncodeGradientAttribute(const GradientAttribute& attribute, v1::GradientAttribute& out) {
  out.set_name(std::string(attribute.name));
  if (!attribute.origin.empty()) {
    out.set_attribute(std::string(attribute.origin));
    return;
  }
  out.mutable_value()->set_name(std::string(attribute.name));
  EncodeAttribute(attribute.value.ToValue(), *out.mutable_value());
}

void EncodeGradient(const Gradient& gradient, v1::Gradient& out) {
  out.set_op(std::string(gradient.op));
  for (const GradientInput& input : gradient.inputs) {
    v1::GradientInput& encoded = *out.add_inputs();
    encoded.set_name(std::string(input.name));
    const std::string origin(input.origin);
    switch (input.source) {
      case GradientInput::Source::kInput:
        encoded.set_input(origin);
        break;
      case GradientInput::Source::kOutput:
        encoded.set_output(origin);
        break;
      case GradientInput::Source::kOutputGradient:
        encoded.set_output_gradient(origin);
        break;
    }
  }
  for (const GradientOutput& output : gradient.outputs) {
    v1::GradientOutput& encoded = *out.add_outputs();
    encoded.set_name(std::string(output.name));
    encoded.set_input(std::string(output.input));
  }
  out.set_output_mask(std::string(gradient.output_mask));
  for (const GradientAttribute& attribute : gradient.attributes)
    EncodeGradientAttribute(attribute, *out.add_attributes());
}

}  // namespace

v1::OperatorSchema EncodeSchema(const Operator& op) {
  v1::OperatorSchema schema;
  schema.set_name(std::string(op.name));
  schema.set_family(std::string(FamilyOf(op)));
  schema.set_summary(std::string(op.summary));
  schema.set_description(std::string(op.description));
  for (const TensorParam& param : op.inputs) EncodeTensorParam(param, *schema.add_inputs());
  for (const AttributeParam& param : op.attributes)
    EncodeAttributeParam(param, *schema.add_attributes());
  for (const TensorParam& param : op.outputs) EncodeTensorParam(param, *schema.add_outputs());
  for (size_t i = 0; i < op.support.size(); ++i) {
    if (op.support[i].empty()) continue;
    v1::ProfileSupport& support = *schema.add_support();
    support.set_profile(std::string(ProfileName(static_cast<Profile>(i))));
    EncodeDTypes(op.support[i], *support.mutable_dtypes());
  }
  schema.set_streams_in_chunks(op.runs_in_pieces != nullptr);
  if (!op.gradient.op.empty()) EncodeGradient(op.gradient, *schema.mutable_gradient());
  return schema;
}

v1::MemoryInfo EncodeMemory(const MemoryPool::Stats& stats) {
  v1::MemoryInfo memory;
  memory.set_limit_bytes(stats.limit_bytes);
  memory.set_used_bytes(stats.used_bytes);
  memory.set_cached_bytes(stats.cached_bytes);
  memory.set_hits(stats.hits);
  memory.set_misses(stats.misses);
  memory.set_largest_lease_bytes(stats.largest_lease_bytes);
  return memory;
}

v1::Device EncodeDevice(Device& device) {
  const DeviceInfo& info = device.info();
  v1::Device out;
  out.set_name(info.name);
  out.set_kind(info.kind);
  out.set_profile(std::string(ProfileName(info.profile)));
  out.set_description(info.description);
  out.set_threads(info.threads);
  for (const Operator* op : AllOperators()) {
    const bool in_profile = !op->support[static_cast<size_t>(info.profile)].empty();
    if (in_profile && device.FindKernel(*op) != nullptr) out.add_operators(std::string(op->name));
  }
  *out.mutable_memory() = EncodeMemory(device.memory().stats());
  const std::optional<ErrorDetail> lost = GetErrorDetail(device.health());
  out.set_state(lost.has_value() ? v1::DEVICE_STATE_LOST : v1::DEVICE_STATE_WORKING);
  if (lost.has_value()) out.set_state_reason(lost->got);
  return out;
}

}  // namespace opserve::server
