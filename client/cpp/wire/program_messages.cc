#include "client/cpp/wire/program_messages.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "client/cpp/wire/call_messages.h"
#include "client/cpp/wire/read_message.h"
#include "core/base/status_macros.h"
#include "core/tensor/element.h"

namespace opserve::client {
namespace {

constexpr std::string_view kProgramAnswer = "GetWorkspaceSizeResponse";

void FillConstant(const std::string& name, const TensorView& view, v1::Tensor& tensor) {
  FillTensor(name, view, tensor);
  const size_t size = DTypeSize(view.dtype);
  v1::TensorValues& values = *tensor.mutable_values();
  for (size_t at = 0; size > 0 && at + size <= view.storage.size(); at += size) {
    const Number number = LoadElement(view.dtype, view.storage.data() + at);
    if (const auto* flag = std::get_if<bool>(&number)) {
      values.add_bools(*flag);
    } else if (const auto* integer = std::get_if<int64_t>(&number)) {
      values.add_ints(*integer);
    } else if (const auto* natural = std::get_if<uint64_t>(&number)) {
      values.add_uints(*natural);
    } else {
      values.add_floats(std::get<double>(number));
    }
  }
}

void FillInput(const std::string& name, const Value& value, v1::Tensor& tensor) {
  if (value.name().empty()) return FillConstant(name, value.constant(), tensor);
  tensor.set_name(name);
  tensor.set_value(value.name());
  if (!value.layout().has_value()) return;
  const Value::Layout& layout = *value.layout();
  tensor.mutable_shape()->Assign(layout.shape.begin(), layout.shape.end());
  tensor.set_scalar(layout.shape.empty());
  if (!layout.strides.has_value()) return;
  tensor.mutable_strides()->Assign(layout.strides->begin(), layout.strides->end());
  tensor.set_storage_offset(layout.storage_offset);
}

// Typed values as the storage of a view that keeps it.
absl::StatusOr<TensorView> ReadConstant(const v1::Tensor& message) {
  const DType dtype = FromWire(message.dtype());
  const size_t size = DTypeSize(dtype);
  const auto bad = [] {
    return BadAnswer(kProgramAnswer, "a constant", "values that go with its dtype and layout",
                     "others");
  };
  const Dims shape(message.shape().begin(), message.shape().end());
  const bool is_countable =
      std::all_of(shape.begin(), shape.end(), [](int64_t e) { return e >= 0; });
  if (size == 0 || shape.size() > kMaxRank || !is_countable || !NumElements(shape).has_value())
    return bad();
  std::vector<Number> numbers;
  const v1::TensorValues& values = message.values();
  for (const double number : values.floats()) numbers.emplace_back(number);
  for (const int64_t number : values.ints()) numbers.emplace_back(number);
  for (const uint64_t number : values.uints()) numbers.emplace_back(number);
  for (const bool flag : values.bools()) numbers.emplace_back(flag);
  const auto bytes = std::make_shared<std::vector<std::byte>>(numbers.size() * size);
  for (size_t i = 0; size > 0 && i < numbers.size(); ++i) {
    if (!StoreElement(dtype, numbers[i], bytes->data() + i * size).ok()) return bad();
  }
  TensorView view{.dtype = dtype,
                  .shape = shape,
                  .strides = {message.strides().begin(), message.strides().end()},
                  .storage_offset = message.storage_offset(),
                  .storage = *bytes,
                  .owner = bytes};
  if (!CheckStorage(view.Desc(), static_cast<int64_t>(bytes->size()), "constant").ok())
    return bad();
  return view;
}

absl::StatusOr<Value> ReadValueOf(const v1::Tensor& message) {
  if (message.has_values()) {
    OPSERVE_ASSIGN_OR_RETURN(TensorView constant, ReadConstant(message));
    return Value::Constant(std::move(constant));
  }
  const Value value(message.value());
  if (message.shape_size() == 0 && !message.scalar()) return value;
  const Dims shape(message.shape().begin(), message.shape().end());
  if (message.strides_size() == 0 && message.storage_offset() == 0) return value.Reshaped(shape);
  return value.Viewed(shape, Dims{message.strides().begin(), message.strides().end()},
                      message.storage_offset());
}

}  // namespace

void FillProgram(const Program& program, v1::Program& message) {
  for (const ProgramStep& step : program.steps()) {
    v1::Step& filled = *message.add_steps();
    filled.set_name(step.name);
    filled.set_op(step.op);
    for (const auto& [name, value] : step.inputs) FillInput(name, value, *filled.add_inputs());
    for (const auto& [name, value] : step.attributes)
      FillAttribute(name, value, *filled.add_attributes());
  }
  for (const ProgramOutput& output : program.outputs()) {
    v1::ProgramOutput& filled = *message.add_outputs();
    filled.set_name(output.name);
    filled.set_value(output.value);
  }
  if (!program.gradients().has_value()) return;
  v1::GradientRequest& gradient = *message.mutable_gradient();
  gradient.set_of(program.gradients()->of);
  for (const std::string& name : program.gradients()->with_respect_to)
    gradient.add_with_respect_to(name);
  gradient.set_seed(program.gradients()->seed);
  gradient.set_max_workspace_bytes(program.gradients()->max_workspace_bytes);
}

absl::StatusOr<ProgramPlan> ReadProgramPlan(const v1::ProgramPlan& message) {
  if (message.intermediate_bytes() < 0)
    return BadAnswer(kProgramAnswer, "intermediate_bytes", ">= 0", "a number below");
  ProgramPlan plan;
  plan.intermediate_bytes = message.intermediate_bytes();
  for (const v1::Step& step : message.call().program().steps()) {
    std::vector<std::pair<std::string, Value>> inputs;
    for (const v1::Tensor& input : step.inputs()) {
      OPSERVE_ASSIGN_OR_RETURN(Value value, ReadValueOf(input));
      inputs.emplace_back(input.name(), std::move(value));
    }
    std::vector<std::pair<std::string, AttributeValue>> attributes;
    for (const v1::Attribute& attribute : step.attributes()) {
      std::optional<AttributeValue> value = ReadAttributeValue(attribute);
      if (!value.has_value()) return BadAnswer(kProgramAnswer, "an attribute", "a value", "none");
      attributes.emplace_back(attribute.name(), *std::move(value));
    }
    plan.program.Step(step.name(), step.op(), std::move(inputs), std::move(attributes));
  }
  for (const v1::ProgramOutput& output : message.call().program().outputs())
    plan.program.Output(output.name(), Value(output.value()));
  return plan;
}

}  // namespace opserve::client
