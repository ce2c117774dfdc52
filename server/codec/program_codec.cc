#include "server/codec/program_codec.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "server/codec/attribute_codec.h"
#include "server/codec/call_codec.h"
#include "server/codec/output_codec.h"
#include "server/codec/tensor_codec.h"

namespace opserve::server {
namespace {

absl::StatusOr<ProgramSource::Argument> DecodeArgument(const v1::Tensor& tensor) {
  OPSERVE_RETURN_IF_ERROR(CheckName(tensor.name(), "input"));
  OPSERVE_RETURN_IF_ERROR(CheckName(tensor.value(), tensor.name()));
  OPSERVE_ASSIGN_OR_RETURN(TensorDesc desc, DecodeDesc(tensor));
  ProgramSource::Argument argument{.name = tensor.name(), .value = tensor.value(), .view = {}};
  argument.has_strides = tensor.strides_size() > 0 || tensor.storage_offset() != 0;
  if (tensor.has_values()) {
    OPSERVE_RETURN_IF_ERROR(CheckDesc(desc, tensor.name()));
    OPSERVE_ASSIGN_OR_RETURN(argument.constant, DecodeValues(tensor.values(), desc, tensor.name()));
    OPSERVE_RETURN_IF_ERROR(
        CheckStorage(desc, static_cast<int64_t>(argument.constant.size()), tensor.name()));
    argument.view = std::move(desc);
    return argument;
  }
  if (tensor.value().empty())
    return MissingParameter(tensor.name(), "a value of the program, or values");
  const bool has_shape = tensor.shape_size() > 0 || tensor.scalar();
  if (argument.has_strides && !has_shape)
    return MissingParameter(tensor.name(), "a shape, as there are strides or a storage_offset");
  if (has_shape) argument.view = std::move(desc);
  return argument;
}

// Before they are read: each takes a hundred times its bytes.
absl::Status CheckCount(std::string_view what, int count, size_t most) {
  if (static_cast<size_t>(count) <= most) return absl::OkStatus();
  return InvalidParameter(what, absl::StrCat("at most ", most, ", as many as the operator has"),
                          absl::StrCat(count));
}

absl::Status DecodeStep(const v1::Step& step, ProgramSource::Step& out) {
  OPSERVE_ASSIGN_OR_RETURN(out.op, FindCallee(step.op()));
  const Operator& op = *out.op;
  const absl::Status inputs = CheckCount("inputs", step.inputs_size(), op.inputs.size());
  if (!inputs.ok()) return WithOperator(inputs, op.name);
  const absl::Status attributes =
      CheckCount("attributes", step.attributes_size(), op.attributes.size());
  if (!attributes.ok()) return WithOperator(attributes, op.name);
  for (const v1::Tensor& tensor : step.inputs()) {
    absl::StatusOr<ProgramSource::Argument> argument = DecodeArgument(tensor);
    if (!argument.ok()) return WithOperator(argument.status(), out.op->name);
    out.arguments.push_back(*std::move(argument));
  }
  for (const v1::Attribute& attribute : step.attributes()) {
    OPSERVE_RETURN_IF_ERROR(CheckName(attribute.name(), "attribute"));
    OPSERVE_RETURN_IF_ERROR(CheckName(attribute.string_value(), attribute.name()));
    out.attributes.push_back({attribute.name(), DecodeAttribute(attribute)});
  }
  return absl::OkStatus();
}

absl::Status Decode(const v1::Call& call, ProgramSource& source) {
  const v1::Program& program = call.program();
  if (!call.op().empty())
    return InvalidParameter("op", "no operator, as there is a program",
                            "an operator and a program");
  for (const v1::Tensor& input : call.inputs()) {
    OPSERVE_RETURN_IF_ERROR(CheckName(input.name(), "input"));
    source.inputs.push_back(input.name());
  }
  OPSERVE_RETURN_IF_ERROR(
      CheckProgramCount("steps", static_cast<size_t>(program.steps_size()), kMaxProgramSteps));
  for (const v1::Step& step : program.steps()) {
    OPSERVE_RETURN_IF_ERROR(CheckName(step.name(), "steps"));
    ProgramSource::Step& out = source.steps.emplace_back();
    out.name = step.name();
    const absl::Status status = DecodeStep(step, out);
    if (!status.ok()) return WithStep(status, step.name());
  }
  for (const v1::ProgramOutput& output : program.outputs()) {
    OPSERVE_RETURN_IF_ERROR(CheckName(output.name(), "outputs"));
    OPSERVE_RETURN_IF_ERROR(CheckName(output.value(), output.name()));
    source.outputs.push_back({output.name(), output.value()});
  }
  if (!program.has_gradient()) return absl::OkStatus();
  const v1::GradientRequest& gradient = program.gradient();
  OPSERVE_RETURN_IF_ERROR(CheckName(gradient.of(), "gradient.of"));
  OPSERVE_RETURN_IF_ERROR(CheckName(gradient.seed(), "gradient.seed"));
  for (const std::string& name : gradient.with_respect_to())
    OPSERVE_RETURN_IF_ERROR(CheckName(name, "gradient.with_respect_to"));
  source.gradients = {
      .of = gradient.of(),
      .with_respect_to = {gradient.with_respect_to().begin(), gradient.with_respect_to().end()},
      .seed = gradient.seed(),
      .max_workspace_bytes = gradient.max_workspace_bytes()};
  return absl::OkStatus();
}

void EncodeDesc(std::string_view name, const TensorDesc& desc, v1::Tensor& out) {
  out.set_name(std::string(name));
  out.set_dtype(EncodeDType(desc.dtype));
  out.mutable_shape()->Add(desc.shape.begin(), desc.shape.end());
  if (desc.shape.empty()) out.set_scalar(true);
  if (desc.IsPlain()) return;
  out.mutable_strides()->Add(desc.strides.begin(), desc.strides.end());
  out.set_storage_offset(desc.storage_offset);
}

void EncodeStep(const TypedProgram& program, const TypedProgram::Step& step, const OpCall& call,
                v1::Step& out) {
  const Operator& op = *call.op;
  out.set_name(step.name);
  out.set_op(std::string(op.name));
  for (size_t i = 0; i < step.sources.size(); ++i) {
    if (step.sources[i] < 0) continue;
    const TypedProgram::Value& value = program.values[static_cast<size_t>(step.sources[i])];
    v1::Tensor& tensor = *out.add_inputs();
    const TensorDesc& seen = *call.inputs[i];
    if (!value.constant.empty()) {
      EncodeDesc(op.inputs[i].name, seen, tensor);
      const auto elements =
          static_cast<int64_t>(value.constant.size() / DTypeSize(value.desc.dtype));
      EncodeValues(value.desc.dtype, value.constant.data(), elements, *tensor.mutable_values());
      continue;
    }
    const bool is_whole =
        SameShape(seen.shape, value.desc.shape) && SameShape(seen.strides, value.desc.strides);
    if (!is_whole) {
      TensorDesc view = seen;
      view.storage_offset -= value.desc.storage_offset;
      EncodeDesc(op.inputs[i].name, view, tensor);
    }
    tensor.set_name(std::string(op.inputs[i].name));
    tensor.set_value(value.name);
  }
  for (size_t i = 0; i < call.attributes.size(); ++i) {
    v1::Attribute& attribute = *out.add_attributes();
    attribute.set_name(std::string(op.attributes[i].name));
    EncodeAttribute(call.attributes[i], attribute);
  }
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Program>> DecodeProgram(const v1::Call& call) {
  ProgramSource source;
  const absl::Status status = Decode(call, source);
  if (!status.ok()) return WithOperator(status, kProgramName);
  return Program::Make(std::move(source));
}

void EncodeProgramPlan(const Plan& plan, v1::ProgramPlan& out) {
  const TypedProgram& program = plan.program->program();
  v1::Call& call = *out.mutable_call();
  for (size_t i = 0; i < plan.call.inputs.size(); ++i)
    EncodeDesc(plan.call.op->inputs[i].name, *plan.call.inputs[i], *call.add_inputs());
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const OpCall& step = plan.program->steps()[i].plan.call;
    EncodeStep(program, program.steps[i], step, *call.mutable_program()->add_steps());
    EncodeOutputs(step, *out.add_steps()->mutable_outputs());
  }
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    v1::ProgramOutput& output = *call.mutable_program()->add_outputs();
    output.set_name(std::string(plan.call.op->outputs[i].name));
    output.set_value(program.values[static_cast<size_t>(program.outputs[i])].name);
  }
  call.set_device(plan.device->info().name);
  out.set_intermediate_bytes(plan.program->intermediate_bytes());
}

}  // namespace opserve::server
