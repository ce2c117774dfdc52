#include <optional>
#include <string_view>
#include <utility>

#include "client/cpp/answered_outputs.h"
#include "client/cpp/messages.h"
#include "client/cpp/read_message.h"
#include "core/base/status_macros.h"
#include "opserve/v1/operator_service.pb.h"

namespace opserve::client {
namespace {

constexpr std::string_view kPlanAnswer = "GetWorkspaceSizeResponse";

template <typename Enums>
std::vector<DType> ReadDTypes(const Enums& enums) {
  std::vector<DType> dtypes;
  for (const int number : enums) dtypes.push_back(FromWire(static_cast<v1::DataType>(number)));
  return dtypes;
}

AttributeKind ReadKind(v1::AttributeKind kind) {
  switch (kind) {
    case v1::ATTRIBUTE_KIND_INT:
      return AttributeKind::kInt;
    case v1::ATTRIBUTE_KIND_FLOAT:
      return AttributeKind::kFloat;
    case v1::ATTRIBUTE_KIND_BOOL:
      return AttributeKind::kBool;
    case v1::ATTRIBUTE_KIND_INT_LIST:
      return AttributeKind::kIntList;
    case v1::ATTRIBUTE_KIND_BOOL_LIST:
      return AttributeKind::kBoolList;
    case v1::ATTRIBUTE_KIND_SCALAR:
      return AttributeKind::kScalar;
    default:
      return AttributeKind::kUnknown;
  }
}

std::optional<AttributeValue> ReadValue(const v1::Attribute& attribute) {
  switch (attribute.value_case()) {
    case v1::Attribute::kIntValue:
      return attribute.int_value();
    case v1::Attribute::kFloatValue:
      return attribute.float_value();
    case v1::Attribute::kBoolValue:
      return attribute.bool_value();
    case v1::Attribute::kIntList:
      return std::vector<int64_t>(attribute.int_list().values().begin(),
                                  attribute.int_list().values().end());
    case v1::Attribute::kBoolList:
      return std::vector<bool>(attribute.bool_list().values().begin(),
                               attribute.bool_list().values().end());
    case v1::Attribute::kFloatList:
      return std::vector<double>(attribute.float_list().values().begin(),
                                 attribute.float_list().values().end());
    case v1::Attribute::VALUE_NOT_SET:
      break;
  }
  return std::nullopt;
}

template <typename Parameters>
std::vector<TensorParameter> ReadTensorParameters(const Parameters& parameters) {
  std::vector<TensorParameter> read;
  for (const v1::TensorParameter& parameter : parameters) {
    read.push_back({parameter.name(), parameter.summary(), parameter.optional(),
                    ReadDTypes(parameter.dtypes()), parameter.shape()});
  }
  return read;
}

OperatorSchema ReadSchema(const v1::OperatorSchema& message) {
  OperatorSchema schema;
  schema.name = message.name();
  schema.summary = message.summary();
  schema.description = message.description();
  schema.inputs = ReadTensorParameters(message.inputs());
  for (const v1::AttributeParameter& attribute : message.attributes()) {
    schema.attributes.push_back({attribute.name(), attribute.summary(), ReadKind(attribute.kind()),
                                 ReadValue(attribute.default_value())});
  }
  schema.outputs = ReadTensorParameters(message.outputs());
  for (const v1::ProfileSupport& support : message.support()) {
    schema.support.push_back({support.profile(), ReadDTypes(support.dtypes())});
  }
  schema.streams_in_chunks = message.streams_in_chunks();
  return schema;
}

Device ReadDevice(const v1::Device& message) {
  Device device;
  device.name = message.name();
  device.kind = message.kind();
  device.profile = message.profile();
  device.description = message.description();
  device.threads = message.threads();
  device.operators.assign(message.operators().begin(), message.operators().end());
  device.memory = {message.memory().limit_bytes(), message.memory().used_bytes(),
                   message.memory().cached_bytes()};
  if (message.state() == v1::DEVICE_STATE_LOST)
    device.lost = message.state_reason().empty() ? "no reason given" : message.state_reason();
  return device;
}

}  // namespace

Request MakeListOperatorsRequest(std::span<const std::string> names) {
  v1::ListOperatorsRequest message;
  for (const std::string& name : names) message.add_names(name);
  Request request;
  request.AppendCopy(message.SerializeAsString());
  return request;
}

absl::StatusOr<ServerInfo> ReadServerInfo(const Fragments& answer) {
  v1::GetServerInfoResponse message;
  OPSERVE_RETURN_IF_ERROR(ReadMessage(answer, message));
  OPSERVE_RETURN_IF_ERROR(CheckCounts(message));
  return ServerInfo{message.version(),
                    message.max_message_bytes(),
                    message.memory_limit_bytes(),
                    message.recommended_chunk_bytes(),
                    message.max_rank(),
                    message.shared_memory_socket(),
                    message.shared_memory_limit_bytes()};
}

absl::StatusOr<std::vector<OperatorSchema>> ReadOperators(const Fragments& answer) {
  v1::ListOperatorsResponse message;
  OPSERVE_RETURN_IF_ERROR(ReadMessage(answer, message));
  std::vector<OperatorSchema> schemas;
  for (const v1::OperatorSchema& schema : message.operators())
    schemas.push_back(ReadSchema(schema));
  return schemas;
}

absl::StatusOr<std::vector<Device>> ReadDevices(const Fragments& answer) {
  v1::ListDevicesResponse message;
  OPSERVE_RETURN_IF_ERROR(ReadMessage(answer, message));
  OPSERVE_RETURN_IF_ERROR(CheckCounts(message));
  std::vector<Device> devices;
  for (const v1::Device& device : message.devices()) devices.push_back(ReadDevice(device));
  return devices;
}

absl::StatusOr<Plan> ReadPlan(const Fragments& answer, const AskedOutputs& asked) {
  v1::GetWorkspaceSizeResponse message;
  OPSERVE_RETURN_IF_ERROR(ReadMessage(answer, message));
  OPSERVE_RETURN_IF_ERROR(CheckCounts(message));
  Plan plan;
  plan.workspace_bytes = message.workspace_bytes();
  OPSERVE_ASSIGN_OR_RETURN(plan.outputs, ReadPlannedOutputs(kPlanAnswer, message.outputs(), asked));
  plan.input_bytes = message.input_bytes();
  plan.output_bytes = message.output_bytes();
  plan.device = message.device();
  plan.cost = {.bytes = message.cost().bytes(),
               .operations = message.cost().operations(),
               .time = absl::Nanoseconds(message.cost().expected_ns()),
               .runs_inline = message.cost().runs_inline()};
  return plan;
}

}  // namespace opserve::client
