#include <optional>
#include <string_view>
#include <utility>

#include "client/cpp/wire/answered_outputs.h"
#include "client/cpp/wire/call_messages.h"
#include "client/cpp/wire/messages.h"
#include "client/cpp/wire/program_messages.h"
#include "client/cpp/wire/read_message.h"
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

std::optional<AttributeRange> ReadRange(const v1::AttributeParameter& attribute) {
  if (!attribute.has_range()) return std::nullopt;
  const v1::AttributeRange& message = attribute.range();
  AttributeRange range = {.minimum_excluded = message.minimum_excluded(),
                          .maximum_excluded = message.maximum_excluded()};
  if (message.has_minimum()) range.minimum = message.minimum();
  if (message.has_maximum()) range.maximum = message.maximum();
  return range;
}

AttributeParameter ReadAttribute(const v1::AttributeParameter& message) {
  AttributeParameter attribute = {message.name(), message.summary(), ReadKind(message.kind()),
                                  ReadAttributeValue(message.default_value())};
  for (const v1::AttributeChoice& choice : message.choices())
    attribute.choices.push_back({choice.value(), choice.name(), choice.summary()});
  attribute.range = ReadRange(message);
  attribute.list_length = message.list_length();
  return attribute;
}

GradientInput ReadGradientInput(const v1::GradientInput& message) {
  using Source = GradientInput::Source;
  switch (message.source_case()) {
    case v1::GradientInput::kInput:
      return {message.name(), Source::kInput, message.input()};
    case v1::GradientInput::kOutput:
      return {message.name(), Source::kOutput, message.output()};
    case v1::GradientInput::kOutputGradient:
      return {message.name(), Source::kOutputGradient, message.output_gradient()};
    case v1::GradientInput::SOURCE_NOT_SET:
      break;
  }
  return {message.name(), Source::kUnknown, ""};
}

Gradient ReadGradient(const v1::Gradient& message) {
  Gradient gradient;
  gradient.op = message.op();
  for (const v1::GradientInput& input : message.inputs())
    gradient.inputs.push_back(ReadGradientInput(input));
  for (const v1::GradientOutput& output : message.outputs())
    gradient.outputs.push_back({output.name(), output.input()});
  gradient.output_mask = message.output_mask();
  for (const v1::GradientAttribute& attribute : message.attributes()) {
    GradientAttribute& read = gradient.attributes.emplace_back();
    read.name = attribute.name();
    read.origin = attribute.attribute();
    if (attribute.has_value()) read.value = ReadAttributeValue(attribute.value());
  }
  return gradient;
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
  schema.family = message.family();
  schema.summary = message.summary();
  schema.description = message.description();
  schema.inputs = ReadTensorParameters(message.inputs());
  for (const v1::AttributeParameter& attribute : message.attributes())
    schema.attributes.push_back(ReadAttribute(attribute));
  schema.outputs = ReadTensorParameters(message.outputs());
  for (const v1::ProfileSupport& support : message.support()) {
    schema.support.push_back({support.profile(), ReadDTypes(support.dtypes())});
  }
  schema.streams_in_chunks = message.streams_in_chunks();
  if (message.has_gradient()) schema.gradient = ReadGradient(message.gradient());
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
  ServerInfo info{.version = message.version(),
                  .max_message_bytes = message.max_message_bytes(),
                  .memory_limit_bytes = message.memory_limit_bytes(),
                  .recommended_chunk_bytes = message.recommended_chunk_bytes(),
                  .max_rank = message.max_rank(),
                  .shared_memory_socket = message.shared_memory_socket(),
                  .shared_memory_limit_bytes = message.shared_memory_limit_bytes(),
                  .features = {message.features().begin(), message.features().end()},
                  .max_header_bytes = message.max_header_bytes(),
                  .max_raw_entries = message.max_raw_entries(),
                  .max_batch_raw_entries = message.max_batch_raw_entries(),
                  .max_batch_calls = message.max_batch_calls(),
                  .max_session_commands = message.max_session_commands(),
                  .max_name_bytes = message.max_name_bytes(),
                  .max_attribute_elements = message.max_attribute_elements(),
                  .max_values_bytes = message.max_values_bytes(),
                  .max_inflated_bytes = message.max_inflated_bytes(),
                  .max_program_steps = message.max_program_steps()};
  if (message.max_call_time_ns() > 0)
    info.max_call_time = absl::Nanoseconds(message.max_call_time_ns());
  return info;
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
  Plan plan;
  if (message.has_program()) {
    OPSERVE_ASSIGN_OR_RETURN(plan.program, ReadProgramPlan(message.program()));
    message.clear_program();
  }
  OPSERVE_RETURN_IF_ERROR(CheckCounts(message));
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
