#include "core/program/typed_program.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/program/gradients.h"
#include "core/program/program_builder.h"

namespace opserve {
namespace {

// The view's one extent of -1 becomes what is left of so many elements.
absl::StatusOr<Dims> ShapeLeftOpen(const Dims& asked, int64_t elements,
                                   std::string_view parameter) {
  Dims shape = asked;
  int64_t* open = nullptr;
  for (int64_t& extent : shape) {
    if (extent != -1) continue;
    if (open != nullptr) return InvalidParameter(parameter, "one extent of -1", "several");
    open = &extent;
    extent = 1;
  }
  if (open == nullptr) return shape;
  const std::optional<int64_t> rest = NumElements(shape);
  if (!rest.has_value() || *rest <= 0 || elements % *rest != 0) {
    return ShapeMismatch(parameter, absl::StrCat("a shape of ", elements, " elements"),
                         ShapeToString(asked));
  }
  *open = elements / *rest;
  return shape;
}

absl::StatusOr<TensorDesc> ViewOf(const TypedProgram::Value& value, const Program::View& view,
                                  std::string_view parameter) {
  TensorDesc desc = view.desc;
  if (desc.dtype == DType::kUndefined) desc.dtype = value.desc.dtype;
  if (desc.dtype != value.desc.dtype)
    return UnsupportedDType(parameter, DTypeName(value.desc.dtype), DTypeName(desc.dtype));
  if (!value.desc.IsDense())
    return InvalidParameter(parameter, "a view of a dense value",
                            absl::StrCat("one of ", value.name, ", which has strides"));
  if (!view.has_strides) {
    OPSERVE_ASSIGN_OR_RETURN(desc.shape,
                             ShapeLeftOpen(desc.shape, value.desc.num_elements(), parameter));
    if (!NumElements(desc.shape).has_value())
      return ShapeMismatch(parameter, "a shape whose elements can be counted",
                           ShapeToString(desc.shape));
    desc.strides = DenseStrides(desc.shape);
  }
  OPSERVE_RETURN_IF_ERROR(CheckStorage(desc, value.desc.size_bytes(), parameter));
  // Where nothing begins may be any number.
  if (desc.num_elements() == 0) desc.storage_offset = 0;
  desc.storage_offset += value.desc.storage_offset;
  return desc;
}

absl::Status CheckIsMade(const TypedProgram::Value& value, std::string_view parameter) {
  if (value.is_made) return absl::OkStatus();
  return InvalidParameter(parameter, "a value that is made",
                          absl::StrCat(value.name, ", which its step masks out"));
}

class Typer {
 public:
  Typer(const Program& program, const OpCall& call, size_t segments)
      : program_(program), call_(call), segments_(segments), builder_(call.profile) {}

  absl::StatusOr<TypedProgram> Type() {
    for (size_t i = 0; i < call_.inputs.size(); ++i)
      builder_.AddInput(program_.input_names()[i], *call_.inputs[i]);
    for (const Program::Constant& constant : program_.constants())
      builder_.AddConstant(constant.desc, constant.bytes);
    for (const Program::Step& step : program_.steps()) OPSERVE_RETURN_IF_ERROR(AddStep(step));
    std::vector<ValueView> outputs;
    for (size_t i = 0; i < program_.output_values().size(); ++i) {
      const int value = program_.output_values()[i];
      OPSERVE_RETURN_IF_ERROR(CheckIsMade(builder_.value(value), program_.outputs[i].name));
      outputs.push_back(builder_.View(value));
    }
    if (program_.gradients().has_value()) {
      OPSERVE_ASSIGN_OR_RETURN(const std::vector<ValueView> gradients,
                               AddGradients(*program_.gradients(), builder_, segments_));
      outputs.insert(outputs.end(), gradients.begin(), gradients.end());
    }
    return std::move(builder_).Finish(outputs, program_.outputs);
  }

 private:
  absl::Status AddStep(const Program::Step& step) {
    OpCall call = step.bound.call;
    call.profile = call_.profile;
    absl::InlinedVector<int, 4> sources(call.inputs.size(), -1);
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      const int index = step.bound.storages[i];
      if (index < 0) continue;
      const Program::Argument& argument = step.arguments[static_cast<size_t>(index)];
      absl::StatusOr<TensorDesc> desc = Describe(argument, call.op->inputs[i].name);
      if (!desc.ok()) return WithStep(WithOperator(desc.status(), call.op->name), step.name);
      call.inputs[i] = *std::move(desc);
      sources[i] = argument.value;
    }
    return builder_.Add(step.name, std::move(call), std::move(sources)).status();
  }

  absl::StatusOr<TensorDesc> Describe(const Program::Argument& argument,
                                      std::string_view parameter) {
    const TypedProgram::Value& value = builder_.value(argument.value);
    OPSERVE_RETURN_IF_ERROR(CheckIsMade(value, parameter));
    return argument.view.has_value() ? ViewOf(value, *argument.view, parameter) : value.desc;
  }

  const Program& program_;
  const OpCall& call_;
  const size_t segments_;
  ProgramBuilder builder_;
};

}  // namespace

absl::StatusOr<TypedProgram> TypeProgram(const Program& program, const OpCall& call,
                                         size_t segments) {
  return Typer(program, call, segments).Type();
}

}  // namespace opserve
