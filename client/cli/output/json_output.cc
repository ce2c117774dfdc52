#include "client/cli/output/json_output.h"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/output/attribute_text.h"
#include "client/cli/output/report.h"
#include "core/base/op_error.h"
#include "core/base/strings.h"
#include "core/tensor/element.h"

namespace opserve::cli {
namespace {

using Json = nlohmann::ordered_json;

// ASCII, as text from outside may be meant for a terminal to act on; it may be no UTF-8 either:
// replaced, not thrown at.
std::string Text(const Json& json) {
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::string Dump(const Json& json) { return Text(json) + "\n"; }

Json NumberJson(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

Json ElementJson(DType dtype, const std::byte* element) {
  if (IsFloating(dtype)) {
    const std::string text = ElementToString(dtype, element);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() ? NumberJson(value) : Json(text);
  }
  return std::visit([](auto value) { return Json(value); }, LoadElement(dtype, element));
}

Json ValueJson(const client::AttributeValue& value) {
  struct Writer {
    Json operator()(double number) const { return NumberJson(number); }
    Json operator()(const std::vector<double>& list) const {
      Json json = Json::array();
      for (const double number : list) json.push_back(NumberJson(number));
      return json;
    }
    Json operator()(const std::string& choice) const { return choice; }
    Json operator()(int64_t number) const { return number; }
    Json operator()(bool flag) const { return flag; }
    Json operator()(const std::vector<int64_t>& list) const { return list; }
    Json operator()(const std::vector<bool>& list) const { return list; }
  };
  return std::visit(Writer{}, value);
}

Json DTypesJson(const std::vector<DType>& dtypes) {
  Json json = Json::array();
  for (const DType dtype : dtypes) json.push_back(std::string(DTypeName(dtype)));
  return json;
}

Json TensorParametersJson(const std::vector<client::TensorParameter>& parameters) {
  Json json = Json::array();
  for (const client::TensorParameter& parameter : parameters) {
    json.push_back({{"name", parameter.name},
                    {"summary", parameter.summary},
                    {"optional", parameter.optional},
                    {"dtypes", DTypesJson(parameter.dtypes)},
                    {"shape", parameter.shape}});
  }
  return json;
}

Json RangeJson(const client::AttributeRange& range) {
  Json json = Json::object();
  if (range.minimum.has_value()) {
    json["minimum"] = NumberJson(*range.minimum);
    json["minimum_excluded"] = range.minimum_excluded;
  }
  if (range.maximum.has_value()) {
    json["maximum"] = NumberJson(*range.maximum);
    json["maximum_excluded"] = range.maximum_excluded;
  }
  return json;
}

Json AttributeJson(const client::AttributeParameter& attribute) {
  Json json = {{"name", attribute.name},
               {"summary", attribute.summary},
               {"kind", std::string(KindText(attribute.kind))},
               {"required", !attribute.default_value.has_value()}};
  if (attribute.default_value.has_value()) json["default"] = ValueJson(*attribute.default_value);
  for (const client::AttributeChoice& choice : attribute.choices) {
    json["choices"].push_back(
        {{"value", choice.value}, {"name", choice.name}, {"summary", choice.summary}});
  }
  if (attribute.range.has_value()) json["range"] = RangeJson(*attribute.range);
  if (attribute.list_length != 0) json["list_length"] = attribute.list_length;
  return json;
}

const char* SourceKey(client::GradientInput::Source source) {
  switch (source) {
    case client::GradientInput::Source::kInput:
      return "input";
    case client::GradientInput::Source::kOutput:
      return "output";
    case client::GradientInput::Source::kOutputGradient:
      return "output_gradient";
    case client::GradientInput::Source::kUnknown:
      break;
  }
  return "unknown";
}

Json GradientJson(const client::Gradient& gradient) {
  Json inputs = Json::array();
  for (const client::GradientInput& input : gradient.inputs)
    inputs.push_back({{"name", input.name}, {SourceKey(input.source), input.origin}});
  Json outputs = Json::array();
  for (const client::GradientOutput& output : gradient.outputs)
    outputs.push_back({{"name", output.name}, {"input", output.input}});
  Json json = {{"op", gradient.op}, {"inputs", std::move(inputs)}, {"outputs", std::move(outputs)}};
  if (!gradient.output_mask.empty()) json["output_mask"] = gradient.output_mask;
  for (const client::GradientAttribute& attribute : gradient.attributes) {
    Json& row = json["attributes"].emplace_back(Json{{"name", attribute.name}});
    if (!attribute.origin.empty()) row["attribute"] = attribute.origin;
    if (attribute.value.has_value()) row["value"] = ValueJson(*attribute.value);
  }
  return json;
}

Json SchemaJson(const client::OperatorSchema& schema) {
  Json attributes = Json::array();
  for (const client::AttributeParameter& attribute : schema.attributes)
    attributes.push_back(AttributeJson(attribute));
  Json support = Json::array();
  for (const client::ProfileSupport& profile : schema.support) {
    support.push_back({{"profile", profile.profile}, {"dtypes", DTypesJson(profile.dtypes)}});
  }
  Json json = {{"name", schema.name},
               {"family", schema.family},
               {"summary", schema.summary},
               {"description", schema.description},
               {"inputs", TensorParametersJson(schema.inputs)},
               {"attributes", std::move(attributes)},
               {"outputs", TensorParametersJson(schema.outputs)},
               {"support", std::move(support)},
               {"streams_in_chunks", schema.streams_in_chunks}};
  if (schema.gradient.has_value()) json["gradient"] = GradientJson(*schema.gradient);
  return json;
}

Json TensorJson(const std::string& name, const TensorDesc& desc) {
  return {{"name", name},
          {"dtype", std::string(DTypeName(desc.dtype))},
          {"shape", std::vector<int64_t>(desc.shape.begin(), desc.shape.end())}};
}

// As text at once: as values of JSON they would take many times as much memory.
void AppendValues(const client::Tensor& tensor, std::string& text) {
  text.append("\"values\":[");
  const size_t size = DTypeSize(tensor.dtype());
  for (size_t i = 0; i < tensor.bytes().size(); i += size) {
    if (i > 0) text.push_back(',');
    text.append(Text(ElementJson(tensor.dtype(), tensor.bytes().data() + i)));
  }
  text.push_back(']');
}

}  // namespace

std::string ServerInfoJson(const client::ServerInfo& info, const std::string& target) {
  return Dump({{"target", target},
               {"version", info.version},
               {"max_message_bytes", info.max_message_bytes},
               {"memory_limit_bytes", info.memory_limit_bytes},
               {"recommended_chunk_bytes", info.recommended_chunk_bytes},
               {"max_rank", info.max_rank},
               {"features", info.features},
               {"max_header_bytes", info.max_header_bytes},
               {"max_raw_entries", info.max_raw_entries},
               {"max_batch_raw_entries", info.max_batch_raw_entries},
               {"max_batch_calls", info.max_batch_calls},
               {"max_session_commands", info.max_session_commands},
               {"max_name_bytes", info.max_name_bytes},
               {"max_attribute_elements", info.max_attribute_elements},
               {"max_values_bytes", info.max_values_bytes},
               {"max_inflated_bytes", info.max_inflated_bytes},
               {"max_program_steps", info.max_program_steps}});
}

std::string OperatorsJson(std::span<const client::OperatorSchema> schemas) {
  Json operators = Json::array();
  for (const client::OperatorSchema& schema : schemas) operators.push_back(SchemaJson(schema));
  return Dump({{"operators", std::move(operators)}});
}

std::string DevicesJson(std::span<const client::Device> devices) {
  Json list = Json::array();
  for (const client::Device& device : devices) {
    list.push_back({{"name", device.name},
                    {"kind", device.kind},
                    {"profile", device.profile},
                    {"description", device.description},
                    {"threads", device.threads},
                    {"operators", device.operators},
                    {"lost", device.lost},
                    {"memory",
                     {{"limit_bytes", device.memory.limit_bytes},
                      {"used_bytes", device.memory.used_bytes},
                      {"cached_bytes", device.memory.cached_bytes}}}});
  }
  return Dump({{"devices", std::move(list)}});
}

std::string PlanJson(const std::string& op, const client::Plan& plan) {
  Json outputs = Json::array();
  for (const client::PlannedOutput& output : plan.outputs)
    outputs.push_back(TensorJson(output.name, output.desc));
  Json json = {{"operator", op},
               {"device", plan.device},
               {"workspace_bytes", plan.workspace_bytes},
               {"input_bytes", plan.input_bytes},
               {"output_bytes", plan.output_bytes},
               {"cost",
                {{"bytes", plan.cost.bytes},
                 {"operations", plan.cost.operations},
                 {"seconds", absl::ToDoubleSeconds(plan.cost.time)},
                 {"runs_inline", plan.cost.runs_inline}}},
               {"outputs", std::move(outputs)}};
  if (plan.program.has_value()) {
    json["steps"] = plan.program->program.steps().size();
    json["intermediate_bytes"] = plan.program->intermediate_bytes;
  }
  return Dump(json);
}

std::string ResultJson(const std::string& op, const client::ExecuteResult& result,
                       const std::map<std::string, std::string>& files) {
  std::string outputs;
  for (const client::NamedTensor& output : result.outputs) {
    Json json = TensorJson(output.name, output.tensor.desc());
    const auto file = files.find(output.name);
    if (file != files.end()) json["file"] = file->second;
    if (!outputs.empty()) outputs.push_back(',');
    outputs.append(Text(json));
    if (file != files.end()) continue;
    outputs.back() = ',';  // in place of the brace
    AppendValues(output.tensor, outputs);
    outputs.push_back('}');
  }
  std::string execution;
  if (result.execution.has_value()) {
    execution =
        absl::StrCat(",\"execution\":",
                     Text({{"device", result.execution->device},
                           {"queued_ns", absl::ToInt64Nanoseconds(result.execution->queued)},
                           {"executed_ns", absl::ToInt64Nanoseconds(result.execution->executed)}}));
  }
  return absl::StrCat("{\"operator\":", Text(op), ",\"outputs\":[", outputs, "]", execution, "}\n");
}

std::string ErrorJson(const absl::Status& status) {
  Json error = {{"exit_code", static_cast<int>(ExitCodeOf(status))},
                {"status", std::string(ToStd(absl::StatusCodeToString(status.code())))},
                {"message", std::string(ToStd(status.message()))}};
  if (const std::optional<ErrorDetail> detail = GetErrorDetail(status); detail.has_value()) {
    const ErrorReasonInfo& info = GetErrorReasonInfo(detail->reason);
    error["reason"] = std::string(info.name);
    if (info.aclnn_code != 0) error["code"] = info.aclnn_code;
    const auto add = [&error](const char* key, const std::string& text) {
      if (!text.empty()) error[key] = text;
    };
    add("operator", detail->op);
    add("parameter", detail->parameter);
    add("want", detail->want);
    add("got", detail->got);
    if (detail->retry_after.has_value())
      error["retry_after_seconds"] = absl::ToDoubleSeconds(*detail->retry_after);
  }
  if (const std::string trace_id = TraceIdOf(status); !trace_id.empty())
    error["trace_id"] = trace_id;
  return Dump({{"error", std::move(error)}});
}

}  // namespace opserve::cli
