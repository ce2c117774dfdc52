#include "server/open_inference/model_codec.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"
#include "core/op/op_table.h"
#include "server/codec/call_codec.h"
#include "server/open_inference/datatype.h"
#include "server/open_inference/parameter_value.h"

namespace opserve::server {
namespace {

constexpr char kPlatform[] = "opserve";

DType FirstOf(DTypeSet dtypes) {
  for (int i = 1; i < kNumDTypes; ++i) {
    if (dtypes.Contains(static_cast<DType>(i))) return static_cast<DType>(i);
  }
  return DType::kUndefined;
}

void EncodeTensor(const TensorParam& param, inference::ModelMetadataResponse::TensorMetadata& out) {
  out.set_name(std::string(param.name));
  out.set_datatype(std::string(DatatypeName(FirstOf(param.dtypes))));
  for (const int64_t extent : VariableShape(param.shape)) out.add_shape(extent);
}

template <typename Tensor>
void EncodeConfigTensor(const TensorParam& param, Tensor& out) {
  out.set_name(std::string(param.name));
  out.set_data_type(ConfigDataType(FirstOf(param.dtypes)));
  for (const int64_t extent : VariableShape(param.shape)) out.add_dims(extent);
}

bool HasOperator(const Device& device, const Operator& op) {
  return !op.support[static_cast<size_t>(device.info().profile)].empty() &&
         device.FindKernel(op) != nullptr;
}

}  // namespace

absl::StatusOr<const Operator*> FindModel(std::string_view name, std::string_view version) {
  OPSERVE_ASSIGN_OR_RETURN(const Operator* op, FindCallee(name));
  if (version.empty() || version == kModelVersion) return op;
  return MakeError({.reason = ErrorReason::kOperatorNotFound,
                    .op = std::string(op->name),
                    .parameter = "model_version",
                    .want = "\"1\" or none",
                    .got = Quoted(version)});
}

std::vector<int64_t> VariableShape(std::string_view words) {
  std::vector<int64_t> any = {-1};
  const size_t end = words.find(')');
  if (!words.starts_with('(') || end == std::string_view::npos) return any;
  const std::string_view extents = words.substr(1, end - 1);
  const bool has_others = words.find('(', end) != std::string_view::npos;
  if (has_others || extents.find("...") != std::string_view::npos) return any;
  if (extents.empty()) return {};
  return std::vector<int64_t>(
      static_cast<size_t>(1 + std::count(extents.begin(), extents.end(), ',')), -1);
}

inference::ServerMetadataResponse EncodeServerMetadata(bool has_shared_memory) {
  inference::ServerMetadataResponse out;
  out.set_name(kPlatform);
  out.set_version(OPSERVE_VERSION);
  for (const char* extension :
       {"binary_tensor_data", "parameters", "model_configuration", "statistics"})
    out.add_extensions(extension);
  if (has_shared_memory) out.add_extensions("system_shared_memory");
  return out;
}

inference::ModelMetadataResponse EncodeModelMetadata(const Operator& op) {
  inference::ModelMetadataResponse out;
  out.set_name(std::string(op.name));
  out.add_versions(std::string(kModelVersion));
  out.set_platform(kPlatform);
  for (const TensorParam& param : op.inputs) EncodeTensor(param, *out.add_inputs());
  for (const TensorParam& param : op.outputs) EncodeTensor(param, *out.add_outputs());
  for (const AttributeParam& param : op.attributes)
    (*out.mutable_properties())[std::string(param.name)] = DescribeAttribute(param);
  return out;
}

inference::ModelConfig EncodeModelConfig(const Operator& op) {
  inference::ModelConfig out;
  out.set_name(std::string(op.name));
  out.set_platform(kPlatform);
  out.set_backend(kPlatform);
  for (const TensorParam& param : op.inputs) {
    EncodeConfigTensor(param, *out.add_input());
    out.mutable_input()->rbegin()->set_optional(param.presence == Presence::kOptional);
  }
  for (const TensorParam& param : op.outputs) EncodeConfigTensor(param, *out.add_output());
  for (const AttributeParam& param : op.attributes) {
    (*out.mutable_parameters())[std::string(param.name)].set_string_value(DescribeAttribute(param));
  }
  return out;
}

std::string WhyUnavailable(const Engine& engine, const Operator& op) {
  std::string why = "no device has it";
  for (const std::unique_ptr<Device>& device : engine.devices()) {
    if (!HasOperator(*device, op)) continue;
    if (device->health().ok()) return "";
    why = absl::StrCat("device ", device->info().name, " is lost");
  }
  return why;
}

bool HasWorkingDevice(const Engine& engine) {
  const auto works = [](const std::unique_ptr<Device>& device) { return device->health().ok(); };
  return std::any_of(engine.devices().begin(), engine.devices().end(), works);
}

inference::RepositoryIndexResponse EncodeIndex(const Engine& engine, bool only_ready) {
  inference::RepositoryIndexResponse out;
  for (const Operator* op : AllOperators()) {
    std::string why = WhyUnavailable(engine, *op);
    if (only_ready && !why.empty()) continue;
    inference::RepositoryIndexResponse::ModelIndex& model = *out.add_models();
    model.set_name(std::string(op->name));
    model.set_version(std::string(kModelVersion));
    model.set_state(why.empty() ? "READY" : "UNAVAILABLE");
    model.set_reason(std::move(why));
  }
  return out;
}

}  // namespace opserve::server
