#include "server/http/playground/curves.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"
#include "core/op/op_table.h"

namespace opserve::server {
namespace {

using Source = GradientInput::Source;

std::vector<float> Range(double from, double to) {
  std::vector<float> numbers(kPoints);
  for (int64_t i = 0; i < kPoints; ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(kPoints - 1);
    numbers[static_cast<size_t>(i)] = static_cast<float>(from + (to - from) * part);
  }
  return numbers;
}

PlayedCall ForwardCall(const Setting& setting, const std::vector<float>& x) {
  PlayedCall call{.op = setting.op};
  for (size_t i = 0; i < setting.inputs.size(); ++i) {
    const std::string_view name = setting.op->inputs[i].name;
    if (i == setting.swept) {
      call.inputs.push_back({name, x});
    } else if (setting.inputs[i].has_value()) {
      call.inputs.push_back({name, std::vector(x.size(), static_cast<float>(*setting.inputs[i]))});
    }
  }
  for (const NamedAttribute& attribute : CallOf(setting).attributes)
    call.attributes.push_back(attribute);
  return call;
}

std::string_view HostDevice(const Engine& engine) {
  for (const std::unique_ptr<Device>& device : engine.devices()) {
    if (device->uses_host_memory()) return device->info().name;
  }
  return {};
}

absl::StatusOr<Plan> PlanOn(std::string_view device, const Engine& engine, const PlayedCall& call) {
  NamedCall named{.op = call.op, .device = device};
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    named.inputs.push_back({.name = call.inputs[i].name,
                            .desc = TensorDesc::Dense(DType::kFloat32, Dims{kPoints}),
                            .storage = static_cast<int>(i)});
  }
  for (const NamedAttribute& attribute : call.attributes) named.attributes.push_back(attribute);
  return engine.MakePlan(named);
}

absl::StatusOr<std::vector<Curve>> Run(Engine& engine, const PlayedCall& call) {
  const std::string_view device = HostDevice(engine);
  if (device.empty()) return absl::NotFoundError("there is no CPU device to play with");
  OPSERVE_ASSIGN_OR_RETURN(Plan plan, PlanOn(device, engine, call));
  OneShot shot;
  shot.plan = std::move(plan);
  for (const PlayedCall::Input& input : call.inputs)
    shot.storages.emplace_back(std::as_bytes(std::span(input.values)));
  absl::StatusOr<Outputs> outputs = absl::InternalError("it did not run");
  shot.done = [&outputs](absl::StatusOr<Outputs> result) { outputs = std::move(result); };
  engine.RunHere(std::move(shot));
  OPSERVE_RETURN_IF_ERROR(outputs.status());
  std::vector<Curve> curves;
  for (const OutputTensor& output : *outputs) {
    if (output.desc.dtype != DType::kFloat32 || output.desc.num_elements() != kPoints) continue;
    Curve& curve = curves.emplace_back(Curve{std::string(output.name), {}});
    curve.values.resize(kPoints);
    std::memcpy(curve.values.data(), output.bytes.data(), kPoints * sizeof(float));
  }
  return curves;
}

const AttributeValue* FindAttribute(const PlayedCall& call, std::string_view name) {
  for (const NamedAttribute& attribute : call.attributes) {
    if (attribute.name == name) return &attribute.value;
  }
  return nullptr;
}

const std::vector<float>* FindInput(const PlayedCall& call, std::string_view name) {
  for (const PlayedCall::Input& input : call.inputs) {
    if (input.name == name) return &input.values;
  }
  return nullptr;
}

const std::vector<float>* FindCurve(const std::vector<Curve>& curves, std::string_view name) {
  for (const Curve& curve : curves) {
    if (curve.name == name) return &curve.values;
  }
  return nullptr;
}

// What its gradient's operator takes of the forward call; its first output's gradient is 1.
std::vector<PlayedCall::Input> BackwardInputs(const PlayedCall& forward,
                                              const std::vector<Curve>& outputs) {
  std::vector<PlayedCall::Input> inputs;
  for (const GradientInput& input : forward.op->gradient.inputs) {
    if (input.source == Source::kOutputGradient) {
      const bool is_first = input.origin == forward.op->outputs[0].name;
      inputs.push_back(
          {input.name, std::vector(static_cast<size_t>(kPoints), is_first ? 1.F : 0.F)});
      continue;
    }
    const std::vector<float>* values = input.source == Source::kInput
                                           ? FindInput(forward, input.origin)
                                           : FindCurve(outputs, input.origin);
    if (values != nullptr) inputs.push_back({input.name, *values});
  }
  return inputs;
}

// The value of the attribute `name` of the gradient's operator; monostate: its default.
AttributeValue BackwardAttribute(const PlayedCall& forward, std::string_view name) {
  std::string_view origin = name;
  for (const GradientAttribute& attribute : forward.op->gradient.attributes) {
    if (attribute.name != name) continue;
    if (attribute.origin.empty()) return attribute.value.ToValue();
    origin = attribute.origin;
  }
  const AttributeValue* value = FindAttribute(forward, origin);
  return value == nullptr ? AttributeValue() : *value;
}

absl::StatusOr<PlayedCall> BackwardCall(const PlayedCall& forward,
                                        const std::vector<Curve>& outputs) {
  PlayedCall call;
  OPSERVE_ASSIGN_OR_RETURN(call.op, FindOperator(forward.op->gradient.op));
  call.inputs = BackwardInputs(forward, outputs);
  for (const AttributeParam& attribute : call.op->attributes) {
    AttributeValue value = BackwardAttribute(forward, attribute.name);
    if (IsGiven(value)) call.attributes.push_back({attribute.name, std::move(value)});
  }
  return call;
}

}  // namespace

absl::StatusOr<Curves> ComputeCurves(Engine& engine, const Setting& setting) {
  Curves curves{.x = Range(setting.from, setting.to)};
  curves.forward = ForwardCall(setting, curves.x);
  OPSERVE_ASSIGN_OR_RETURN(curves.outputs, Run(engine, curves.forward));
  if (curves.outputs.empty()) {
    return InvalidParameter(setting.op->name, "attributes with which it works element by element",
                            "others");
  }
  OPSERVE_ASSIGN_OR_RETURN(curves.backward, BackwardCall(curves.forward, curves.outputs));
  OPSERVE_ASSIGN_OR_RETURN(std::vector<Curve> gradients, Run(engine, curves.backward));
  for (const GradientOutput& output : setting.op->gradient.outputs) {
    for (Curve& gradient : gradients) {
      if (gradient.name != output.name) continue;
      gradient.name = absl::StrCat("gradient of ", ToAbsl(output.input));
      curves.gradients.push_back(std::move(gradient));
      break;
    }
  }
  return curves;
}

}  // namespace opserve::server
