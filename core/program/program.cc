#include "core/program/program.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"
#include "core/op/infer_checks.h"
#include "core/program/typed_program.h"

namespace opserve {
namespace {

constexpr size_t kLongestSlip = 32;  // for longer names none is suggested

constexpr DTypeSet kAnyDType = {DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kFloat64,
                                DType::kInt8,    DType::kInt16,   DType::kInt32,    DType::kInt64,
                                DType::kUint8,   DType::kUint16,  DType::kUint32,   DType::kUint64,
                                DType::kBool};

absl::Status InferProgram(OpCall& call) {
  const Program& program = *AsProgram(*call.op);
  OPSERVE_ASSIGN_OR_RETURN(const TypedProgram typed, TypeProgram(program, call, 1));
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    const TensorDesc& desc = typed.values[static_cast<size_t>(typed.outputs[i])].desc;
    const int output = static_cast<int>(i);
    const DType dtype = OutputDType(call, output, desc.dtype);
    if (dtype != desc.dtype)
      return UnsupportedDType(call.op->outputs[i].name, DTypeName(desc.dtype), DTypeName(dtype));
    OPSERVE_RETURN_IF_ERROR(SettleOutput(call, output, desc.dtype, desc.shape));
    const OutputSlot& slot = call.output(output);
    if (slot.origin == OutputSlot::Origin::kGiven && !slot.desc.IsDense())
      return InvalidParameter(call.op->outputs[i].name, "a dense output", "strides");
  }
  return absl::OkStatus();
}

absl::Status CheckNewName(std::string_view name, std::string_view kind, bool is_taken) {
  if (name.empty()) return MissingParameter(kind, "a name");
  if (name.find('.') != std::string_view::npos)
    return InvalidParameter(name, "a name without a dot", "one with a dot");
  if (is_taken) return InvalidParameter(name, "a name of its own", "one that is there twice");
  return absl::OkStatus();
}

}  // namespace

// Finds values by their names while a program is read from front to back.
class Program::Resolver {
 public:
  explicit Resolver(Program& program) : program_(program) {}

  absl::Status Resolve() {
    const ProgramSource& source = program_.source_;
    OPSERVE_RETURN_IF_ERROR(CheckProgramCount("steps", source.steps.size(), kMaxProgramSteps));
    OPSERVE_RETURN_IF_ERROR(CheckProgramCount("inputs", source.inputs.size(), kMaxProgramTensors));
    const size_t gradients =
        source.gradients.has_value() ? source.gradients->with_respect_to.size() : 0;
    OPSERVE_RETURN_IF_ERROR(
        CheckProgramCount("outputs", source.outputs.size() + gradients, kMaxProgramTensors));
    OPSERVE_RETURN_IF_ERROR(AddInputs());
    CountConstants();
    for (const ProgramSource::Step& step : source.steps) OPSERVE_RETURN_IF_ERROR(AddStep(step));
    if (source.gradients.has_value()) OPSERVE_RETURN_IF_ERROR(AddGradients(*source.gradients));
    return AddOutputs();
  }

 private:
  absl::Status AddInputs() {
    for (const std::string& name : program_.source_.inputs) {
      OPSERVE_RETURN_IF_ERROR(CheckNewName(name, "inputs", values_.contains(name)));
      values_.emplace(name, next_value_++);
    }
    return absl::OkStatus();
  }

  // Constants have their numbers before the steps.
  void CountConstants() {
    for (const ProgramSource::Step& step : program_.source_.steps) {
      for (const ProgramSource::Argument& argument : step.arguments)
        next_value_ += argument.value.empty() ? 1 : 0;
    }
  }

  absl::Status AddStep(const ProgramSource::Step& source) {
    OPSERVE_RETURN_IF_ERROR(CheckNewName(source.name, "steps", values_.contains(source.name)));
    Step step{.name = source.name, .bound = {}, .arguments = {}, .first_value = next_value_};
    NamedCall named{.op = source.op};
    for (const ProgramSource::Argument& argument : source.arguments) {
      absl::StatusOr<Argument> resolved = ResolveArgument(argument);
      if (!resolved.ok())
        return WithStep(WithOperator(resolved.status(), source.op->name), source.name);
      named.inputs.push_back({argument.name, {}, static_cast<int>(step.arguments.size())});
      step.arguments.push_back(*std::move(resolved));
    }
    named.attributes.assign(source.attributes.begin(), source.attributes.end());
    absl::StatusOr<BoundCall> bound = BindCall(named, Profile::kHost);
    if (!bound.ok()) return WithStep(bound.status(), source.name);
    step.bound = *std::move(bound);
    AddOutputsOf(step);
    program_.steps_.push_back(std::move(step));
    return absl::OkStatus();
  }

  void AddOutputsOf(const Step& step) {
    values_.emplace(step.name, next_value_);
    for (const TensorParam& output : step.bound.call.op->outputs)
      values_.emplace(absl::StrCat(step.name, ".", ToAbsl(output.name)), next_value_++);
  }

  absl::StatusOr<Argument> ResolveArgument(const ProgramSource::Argument& argument) {
    if (argument.value.empty()) {
      program_.constants_.push_back({*argument.view, argument.constant});
      const size_t inputs = program_.source_.inputs.size();
      return Argument{static_cast<int>(inputs + program_.constants_.size()) - 1, std::nullopt};
    }
    OPSERVE_ASSIGN_OR_RETURN(const int value, Find(argument.value, argument.name));
    Argument resolved{value, std::nullopt};
    if (argument.view.has_value()) resolved.view = View{*argument.view, argument.has_strides};
    return resolved;
  }

  absl::StatusOr<int> Find(std::string_view name, std::string_view parameter) const {
    const auto found = values_.find(ToAbsl(name));
    if (found != values_.end()) return found->second;
    return Unknown(name, parameter, "an input of the program, or an output of an earlier step",
                   values_.size());
  }

  absl::StatusOr<int> FindInput(std::string_view name, std::string_view parameter) const {
    const size_t inputs = program_.source_.inputs.size();
    const auto found = values_.find(ToAbsl(name));
    if (found != values_.end() && static_cast<size_t>(found->second) < inputs) return found->second;
    return Unknown(name, parameter, "an input of the program", inputs);
  }

  // Suggests one of the first values, so many.
  absl::Status Unknown(std::string_view name, std::string_view parameter, std::string_view want,
                       size_t values) const {
    std::vector<std::string_view> names;
    // Among thousands of long names it would take seconds to look for a slip.
    if (name.size() <= kLongestSlip) {
      for (const auto& [known, value] : values_) {
        if (known.size() < 2 * kLongestSlip && static_cast<size_t>(value) < values)
          names.push_back(known);
      }
      std::sort(names.begin(), names.end());
    }
    return UnknownParameter(parameter, absl::StrCat(ToAbsl(want), DidYouMean(name, names)),
                            Quoted(name));
  }

  absl::Status AddGradients(const ProgramSource::Gradients& source) {
    ProgramGradients& gradients = program_.gradients_.emplace();
    OPSERVE_ASSIGN_OR_RETURN(gradients.of, Find(source.of, "gradient.of"));
    if (source.with_respect_to.empty())
      return MissingParameter("gradient.with_respect_to", "at least one input of the program");
    for (const std::string& name : source.with_respect_to) {
      OPSERVE_ASSIGN_OR_RETURN(const int input, FindInput(name, "gradient.with_respect_to"));
      gradients.with_respect_to.push_back(input);
    }
    if (!source.seed.empty()) {
      OPSERVE_ASSIGN_OR_RETURN(gradients.seed, FindInput(source.seed, "gradient.seed"));
    }
    if (source.max_workspace_bytes < 0)
      return OutOfRange("gradient.max_workspace_bytes", "0, which is no bound, or more",
                        absl::StrCat(source.max_workspace_bytes));
    gradients.max_workspace_bytes = source.max_workspace_bytes;
    return absl::OkStatus();
  }

  absl::Status AddOutputs() {
    std::vector<std::string>& names = program_.output_names_;
    const ProgramSource& source = program_.source_;
    for (const ProgramSource::Output& output : source.outputs) {
      OPSERVE_RETURN_IF_ERROR(AddOutputName(output.name));
      OPSERVE_ASSIGN_OR_RETURN(const int value, Find(output.value, output.name));
      program_.output_values_.push_back(value);
    }
    if (source.gradients.has_value()) {
      for (const std::string& name : source.gradients->with_respect_to)
        OPSERVE_RETURN_IF_ERROR(AddOutputName(absl::StrCat(ToAbsl(kGradientPrefix), name)));
    }
    return names.empty() ? MissingParameter("outputs", "at least one output") : absl::OkStatus();
  }

  absl::Status AddOutputName(std::string name) {
    std::vector<std::string>& names = program_.output_names_;
    if (name.empty()) return MissingParameter("outputs", "a name");
    if (std::find(names.begin(), names.end(), name) != names.end())
      return InvalidParameter(name, "a name of its own among the outputs",
                              "one that is there twice");
    names.push_back(std::move(name));
    return absl::OkStatus();
  }

  Program& program_;
  int next_value_ = 0;
  absl::flat_hash_map<std::string, int> values_;
};

absl::Status CheckProgramCount(std::string_view parameter, size_t count, size_t most) {
  if (count <= most) return absl::OkStatus();
  return MakeError({.reason = ErrorReason::kResourceLimit,
                    .op = std::string(kProgramName),
                    .parameter = std::string(parameter),
                    .want = absl::StrCat("at most ", most),
                    .got = absl::StrCat(count)});
}

Program::Program(ProgramSource source)
    : Operator{.name = kProgramName,
               .summary = "Several operators in one call.",
               .description = {},
               .inputs = {},
               .attributes = {},
               .outputs = {},
               .support = {},
               .infer = InferProgram},
      source_(std::move(source)) {}

absl::StatusOr<std::shared_ptr<const Program>> Program::Make(ProgramSource source) {
  const std::shared_ptr<Program> program(new Program(std::move(source)));
  const absl::Status status = Resolver(*program).Resolve();
  if (!status.ok()) return WithOperator(status, kProgramName);
  program->MakeSchema();
  return program;
}

void Program::MakeSchema() {
  for (const std::string& input : source_.inputs)
    input_params_.push_back({.name = input, .summary = {}, .shape = {}, .dtypes = kAnyDType});
  for (const std::string& output : output_names_)
    output_params_.push_back({.name = output, .summary = {}, .shape = {}, .dtypes = kAnyDType});
  inputs = input_params_;
  outputs = output_params_;
  support.fill(kAnyDType);
}

const Program* AsProgram(const Operator& op) {
  return op.infer == InferProgram ? static_cast<const Program*>(&op) : nullptr;
}

absl::Status WithStep(const absl::Status& status, std::string_view step) {
  std::optional<ErrorDetail> detail = GetErrorDetail(status);
  if (!detail.has_value()) return status;
  detail->parameter =
      absl::StrCat(ToAbsl(step), detail->parameter.empty() ? "" : ".", detail->parameter);
  return MakeError(*detail);
}

}  // namespace opserve
