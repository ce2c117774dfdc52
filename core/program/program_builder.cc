#include "core/program/program_builder.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"
#include "core/op/op_table.h"
#include "core/tensor/element.h"

namespace opserve {
namespace {

// Cast's choice (core/ops/dtype_schema.h has its numbers; the name is the dtype's).
AttributeValue DTypeChoice(DType dtype) { return std::string(DTypeName(dtype)); }

}  // namespace

int ProgramBuilder::AddInput(std::string name, TensorDesc desc) {
  const auto index = static_cast<int>(program_.values.size());
  names_.emplace(name, 1);
  program_.values.push_back({.name = std::move(name), .desc = std::move(desc), .input = index});
  return index;
}

int ProgramBuilder::AddConstant(TensorDesc desc, std::vector<std::byte> bytes) {
  program_.values.push_back(
      {.name = "constant", .desc = std::move(desc), .constant = std::move(bytes)});
  return static_cast<int>(program_.values.size()) - 1;
}

ValueView ProgramBuilder::Filled(DType dtype, double number, std::span<const int64_t> shape) {
  std::vector<std::byte> bytes(DTypeSize(dtype));
  // Floating dtypes take any number.
  StoreElement(dtype, number, bytes.data()).IgnoreError();
  // `shape` may be that of a value, whose place changes when one is added.
  TensorDesc desc{
      .dtype = dtype, .shape = Dims(shape.begin(), shape.end()), .strides = Dims(shape.size(), 0)};
  return {AddConstant(TensorDesc::Dense(dtype, {}), std::move(bytes)), std::move(desc)};
}

absl::StatusOr<int> ProgramBuilder::Add(std::string_view name, OpCall call,
                                        absl::InlinedVector<int, 4> sources) {
  const absl::Status status = PlanCall(call);
  if (!status.ok()) return WithStep(status, name);
  return Append(
      {.name = std::string(name), .call = std::move(call), .sources = std::move(sources)});
}

int ProgramBuilder::Repeat(TypedProgram::Step step) {
  step.name = absl::StrCat("again_", step.name);
  return Append(std::move(step));
}

int ProgramBuilder::Append(TypedProgram::Step step) {
  step.name = UniqueName(step.name);
  step.first_value = static_cast<int>(program_.values.size());
  const OpCall& call = step.call;
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    program_.values.push_back(
        {.name = absl::StrCat(step.name, ".", ToAbsl(call.op->outputs[i].name)),
         .desc = call.outputs[i].desc,
         .is_made = call.outputs[i].wanted});
  }
  program_.steps.push_back(std::move(step));
  return program_.steps.back().first_value;
}

// Goes on from the last number: a value may be used by thousands of steps.
std::string ProgramBuilder::UniqueName(std::string_view name) {
  const auto [taken, is_new] = names_.emplace(name, 1);
  if (is_new) return taken->first;
  int number = taken->second;
  std::string unique;
  do {
    unique = absl::StrCat(ToAbsl(name), "_", ++number);
  } while (names_.contains(unique));
  names_[std::string(name)] = number;
  names_.emplace(unique, 1);
  return unique;
}

absl::StatusOr<ValueView> ProgramBuilder::Apply(std::string_view step, std::string_view op,
                                                std::initializer_list<ValueView> inputs,
                                                Attributes attributes) {
  OPSERVE_ASSIGN_OR_RETURN(const Operator* found, FindOperator(op));
  NamedCall named{.op = found};
  for (const auto& [name, value] : attributes) named.attributes.push_back({name, value});
  OPSERVE_ASSIGN_OR_RETURN(BoundCall bound, BindCall(named, profile_));
  absl::InlinedVector<int, 4> sources(bound.call.inputs.size(), -1);
  size_t i = 0;
  for (const ValueView& input : inputs) {
    bound.call.inputs[i] = input.desc;
    sources[i++] = input.value;
  }
  OPSERVE_ASSIGN_OR_RETURN(const int first, Add(step, std::move(bound.call), std::move(sources)));
  return View(first);
}

absl::StatusOr<ValueView> ProgramBuilder::Dense(std::string_view step, ValueView view) {
  if (view.desc.IsPlain()) return view;
  return Cast(step, view, view.desc.dtype);
}

absl::StatusOr<ValueView> ProgramBuilder::Cast(std::string_view step, const ValueView& view,
                                               DType dtype) {
  return Apply(step, "Cast", {view}, {{"dtype", DTypeChoice(dtype)}});
}

absl::StatusOr<TypedProgram> ProgramBuilder::Finish(std::span<const ValueView> outputs,
                                                    std::span<const TensorParam> names) && {
  for (size_t i = 0; i < outputs.size(); ++i) {
    ValueView output = outputs[i];
    const bool is_of_step = value(output.value).input < 0 && value(output.value).constant.empty();
    const std::vector<int>& taken = program_.outputs;
    const bool is_taken = std::find(taken.begin(), taken.end(), output.value) != taken.end();
    const bool is_whole = SameShape(output.desc.shape, value(output.value).desc.shape);
    if (!is_of_step || is_taken || !is_whole || !output.desc.IsPlain()) {
      absl::StatusOr<ValueView> copy = Cast(names[i].name, output, output.desc.dtype);
      if (!copy.ok()) {
        return InvalidParameter(
            names[i].name, "a result of a step, and of one output",
            absl::StrCat(value(output.value).name, " once more, which Cast cannot copy"));
      }
      output = *copy;
    }
    program_.outputs.push_back(output.value);
  }
  DropUnused();
  return std::move(program_);
}

void ProgramBuilder::DropUnused() {
  std::vector<bool> is_needed(program_.values.size(), false);
  for (const int output : program_.outputs) is_needed[static_cast<size_t>(output)] = true;
  std::vector<TypedProgram::Step> kept;
  for (auto step = program_.steps.rbegin(); step != program_.steps.rend(); ++step) {
    bool is_used = false;
    for (size_t i = 0; i < step->call.outputs.size(); ++i)
      is_used = is_used || is_needed[static_cast<size_t>(step->value_of(i))];
    if (!is_used) continue;
    for (const int source : step->sources) {
      if (source >= 0) is_needed[static_cast<size_t>(source)] = true;
    }
    kept.push_back(std::move(*step));
  }
  std::reverse(kept.begin(), kept.end());
  program_.steps = std::move(kept);
}

}  // namespace opserve
