#include "core/program/gradient_rules.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"
#include "core/op/op_table.h"
#include "core/op/reduced_dims.h"

namespace opserve {
namespace {

using Views = absl::StatusOr<ValueView>;

// ---- by schema

class SchemaGradient {
 public:
  SchemaGradient(ProgramBuilder& builder, const BackwardStep& step)
      : builder_(builder),
        step_(step),
        forward_(*step.step.call.op),
        gradient_(forward_.gradient) {}

  absl::StatusOr<InputGradients> Write() {
    OPSERVE_RETURN_IF_ERROR(CheckWanted());
    OPSERVE_ASSIGN_OR_RETURN(const Operator* op, FindOperator(gradient_.op));
    call_ = MakeOpCall(*op, builder_.profile());
    sources_.assign(op->inputs.size(), -1);
    for (const GradientInput& input : gradient_.inputs) OPSERVE_RETURN_IF_ERROR(SetInput(input));
    SetAttributes();
    OPSERVE_ASSIGN_OR_RETURN(const int first,
                             builder_.Add(step_.name, std::move(call_), std::move(sources_)));
    InputGradients gradients(forward_.inputs.size());
    for (const GradientOutput& output : gradient_.outputs) {
      const auto input = static_cast<size_t>(forward_.FindInput(output.input));
      if (step_.wants(input)) gradients[input] = builder_.View(first + op->FindOutput(output.name));
    }
    return gradients;
  }

 private:
  absl::Status CheckWanted() const {
    for (size_t i = 0; i < forward_.inputs.size(); ++i) {
      if (!step_.wants(i) || IsComputed(forward_.inputs[i].name)) continue;
      return InvalidParameter(forward_.inputs[i].name, "an input that has a gradient",
                              "one that has none; leave out what depends on it");
    }
    for (size_t i = 0; i < forward_.outputs.size(); ++i) {
      if (!step_.of_outputs[i].has_value() || IsTaken(forward_.outputs[i].name)) continue;
      return InvalidParameter(forward_.outputs[i].name, "an output through which gradients pass",
                              "one that has none");
    }
    return absl::OkStatus();
  }

  bool IsComputed(std::string_view input) const {
    return std::any_of(gradient_.outputs.begin(), gradient_.outputs.end(),
                       [&](const GradientOutput& output) { return output.input == input; });
  }
  bool IsTaken(std::string_view output) const {
    return std::any_of(
        gradient_.inputs.begin(), gradient_.inputs.end(), [&](const GradientInput& input) {
          return input.source == GradientInput::Source::kOutputGradient && input.origin == output;
        });
  }

  absl::Status SetInput(const GradientInput& input) {
    const auto at = static_cast<size_t>(call_.op->FindInput(input.name));
    const auto set = [&](const ValueView& view) {
      call_.inputs[at] = view.desc;
      sources_[at] = view.value;
      return absl::OkStatus();
    };
    if (input.source == GradientInput::Source::kInput) {
      const auto origin = static_cast<size_t>(forward_.FindInput(input.origin));
      return step_.step.sources[origin] < 0 ? absl::OkStatus() : set(step_.input(origin));
    }
    const auto origin = static_cast<size_t>(forward_.FindOutput(input.origin));
    const ValueView output = builder_.View(step_.step.value_of(origin));
    if (input.source == GradientInput::Source::kOutput) return set(output);
    const std::optional<ValueView>& gradient = step_.of_outputs[origin];
    return set(gradient.has_value() ? *gradient
                                    : builder_.Filled(output.desc.dtype, 0, output.desc.shape));
  }

  void SetAttributes() {
    const Operator& op = *call_.op;
    for (size_t i = 0; i < op.attributes.size(); ++i) {
      const int same = forward_.FindAttribute(op.attributes[i].name);
      if (same >= 0) call_.attributes[i] = ForwardAttribute(same);
    }
    for (const GradientAttribute& attribute : gradient_.attributes) {
      call_.attributes[static_cast<size_t>(op.FindAttribute(attribute.name))] =
          attribute.origin.empty() ? attribute.value.ToValue()
                                   : ForwardAttribute(forward_.FindAttribute(attribute.origin));
    }
    if (gradient_.output_mask.empty()) return;
    std::vector<bool> mask;
    for (const GradientOutput& output : gradient_.outputs)
      mask.push_back(step_.wants(static_cast<size_t>(forward_.FindInput(output.input))));
    call_.attributes[static_cast<size_t>(op.FindAttribute(gradient_.output_mask))] =
        std::move(mask);
  }

  const AttributeValue& ForwardAttribute(int index) const {
    return step_.step.call.attributes[static_cast<size_t>(index)];
  }

  ProgramBuilder& builder_;
  const BackwardStep& step_;
  const Operator& forward_;
  const Gradient& gradient_;
  OpCall call_;
  absl::InlinedVector<int, 4> sources_;
};

// ---- rules: gradients of operators that are made of several

// What a rule is given, and writes.
struct Rule {
  ProgramBuilder& builder;
  const BackwardStep& step;
  InputGradients& gradients;

  ValueView gradient() const { return *step.of_outputs[0]; }
  ValueView input(size_t i) const { return step.input(i); }
  template <typename T>
  const T& attribute(std::string_view name) const {
    const OpCall& call = step.step.call;
    return call.attribute<T>(call.op->FindAttribute(name));
  }
  double number(std::string_view name) const { return attribute<double>(name); }

  Views Apply(std::string_view op, std::initializer_list<ValueView> inputs,
              ProgramBuilder::Attributes attributes = {}) const {
    return builder.Apply(step.name, op, inputs, attributes);
  }
  Views Scaled(ValueView view, double factor) const {
    if (factor == 1) return view;
    // Not rounded to the gradient's dtype, as attributes are not.
    return Apply("Mul", {view, builder.Filled(DType::kFloat32, factor)});
  }
  absl::Status Set(size_t i, const Views& gradient) const {
    OPSERVE_RETURN_IF_ERROR(gradient.status());
    gradients[i] = *gradient;
    return absl::OkStatus();
  }
  // Nothing of an input that nobody asks for is computed.
  template <typename Make>
  absl::Status SetWanted(size_t i, const Make& make) const {
    return step.wants(i) ? Set(i, make()) : absl::OkStatus();
  }
};

absl::Status OfSum(const Rule& rule, double sign) {
  OPSERVE_RETURN_IF_ERROR(rule.SetWanted(0, [&]() -> Views { return rule.gradient(); }));
  return rule.SetWanted(1,
                        [&] { return rule.Scaled(rule.gradient(), sign * rule.number("alpha")); });
}
absl::Status OfAdd(const Rule& rule) { return OfSum(rule, 1); }
absl::Status OfSub(const Rule& rule) { return OfSum(rule, -1); }

absl::Status OfMul(const Rule& rule) {
  OPSERVE_RETURN_IF_ERROR(rule.SetWanted(0, [&] {
    return rule.Apply("Mul", {rule.gradient(), rule.input(1)});
  }));
  return rule.SetWanted(1, [&] { return rule.Apply("Mul", {rule.gradient(), rule.input(0)}); });
}

// d(a / b) = da / b - (a / b) / b db
absl::Status OfDiv(const Rule& rule) {
  OPSERVE_ASSIGN_OR_RETURN(const ValueView of_self,
                           rule.Apply("Div", {rule.gradient(), rule.input(1)}));
  if (rule.step.wants(0)) rule.gradients[0] = of_self;
  return rule.SetWanted(1, [&]() -> Views {
    const ValueView quotient = rule.builder.View(rule.step.step.value_of(0));
    OPSERVE_ASSIGN_OR_RETURN(const ValueView product, rule.Apply("Mul", {of_self, quotient}));
    return rule.Scaled(product, -1);
  });
}

absl::Status OfCast(const Rule& rule) { return rule.Set(0, rule.gradient()); }

absl::Status OfPermute(const Rule& rule) {
  const auto& dims = rule.attribute<std::vector<int64_t>>("dims");
  const auto rank = static_cast<int64_t>(dims.size());
  ValueView back = rule.gradient();
  for (size_t i = 0; i < dims.size(); ++i) {
    const auto to = static_cast<size_t>(dims[i] < 0 ? dims[i] + rank : dims[i]);
    back.desc.shape[to] = rule.gradient().desc.shape[i];
    back.desc.strides[to] = rule.gradient().desc.strides[i];
  }
  return rule.Set(0, back);
}

// The gradient of a sum is the same for all of its terms: a view that repeats it.
ValueView Spread(const Rule& rule, ValueView gradient) {
  const OpCall& call = rule.step.step.call;
  const Dims& shape = call.input(0).shape;
  const bool kept = call.attribute<bool>(1);
  const ReducedDims reduced(call);
  ValueView spread{gradient.value,
                   {.dtype = gradient.desc.dtype,
                    .shape = shape,
                    .storage_offset = gradient.desc.storage_offset}};
  size_t from = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool is_reduced = reduced.Contains(i);
    spread.desc.strides.push_back(is_reduced ? 0 : gradient.desc.strides[from]);
    if (kept || !is_reduced) ++from;
  }
  return spread;
}

absl::Status SetSpread(const Rule& rule, ValueView gradient) {
  OPSERVE_ASSIGN_OR_RETURN(gradient, InDType(rule.builder, rule.step.name, std::move(gradient),
                                             rule.input(0).desc.dtype));
  return rule.Set(0, Spread(rule, std::move(gradient)));
}

absl::Status OfReduceSum(const Rule& rule) { return SetSpread(rule, rule.gradient()); }

absl::Status OfMean(const Rule& rule) {
  const OpCall& call = rule.step.step.call;
  const int64_t means = std::max<int64_t>(1, call.output(0).desc.num_elements());
  const int64_t terms = call.input(0).num_elements() / means;
  const ValueView gradient = rule.gradient();
  OPSERVE_ASSIGN_OR_RETURN(
      const ValueView share,
      rule.Apply("Div",
                 {gradient, rule.builder.Filled(DType::kFloat32, static_cast<double>(terms))}));
  return SetSpread(rule, share);
}

// A vector as the matrix that Matmul takes it for; with as many dimensions as a matrix has.
ValueView AsMatrix(ValueView view, bool is_row) {
  if (view.desc.rank() != 1) return view;
  const int64_t stride = view.desc.strides[0];
  const auto at = [&](Dims& dims) { return is_row ? dims.begin() : dims.end(); };
  view.desc.shape.insert(at(view.desc.shape), 1);
  view.desc.strides.insert(at(view.desc.strides), stride);
  return view;
}

Views Product(const Rule& rule, ValueView a, ValueView b) {
  return rule.Apply("Matmul", {std::move(a), std::move(b)},
                    {{"cube_math_type", rule.attribute<int64_t>("cube_math_type")}});
}

// The product's gradient with the dimensions that the vectors among the factors did not leave.
Views GradientOfMatrices(const Rule& rule) {
  Dims shape = rule.gradient().desc.shape;
  if (rule.input(1).desc.rank() == 1) shape.push_back(1);
  if (rule.input(0).desc.rank() == 1) shape.insert(shape.end() - 1, 1);
  return Reshaped(rule.builder, rule.step.name, rule.gradient(), shape);
}

// A batch of matrices, each with `columns`, as one matrix of all rows.
Views Stacked(const Rule& rule, const ValueView& view) {
  const std::span<const int64_t> shape = view.desc.shape;
  // Too many, of an empty tensor, do not fit the other factor, which is then said.
  const int64_t rows = NumElements(shape.first(shape.size() - 1)).value_or(0);
  return Reshaped(rule.builder, rule.step.name, view, {rows, shape.back()});
}

absl::Status OfMatmul(const Rule& rule) {
  OPSERVE_ASSIGN_OR_RETURN(const ValueView gradient, GradientOfMatrices(rule));
  const ValueView a = AsMatrix(rule.input(0), true);
  const ValueView b = AsMatrix(rule.input(1), false);
  const auto finished = [&](const Views& product, size_t input) -> Views {
    OPSERVE_RETURN_IF_ERROR(product.status());
    const ValueView& matrix = input == 0 ? a : b;
    OPSERVE_ASSIGN_OR_RETURN(ValueView sum,
                             ReducedTo(rule.builder, rule.step.name, *product, matrix.desc.shape));
    return Reshaped(rule.builder, rule.step.name, std::move(sum), rule.input(input).desc.shape);
  };
  OPSERVE_RETURN_IF_ERROR(
      rule.SetWanted(0, [&] { return finished(Product(rule, gradient, Transposed(b)), 0); }));
  return rule.SetWanted(1, [&]() -> Views {
    // One product of all rows where the second factor is one matrix for a whole batch.
    if (b.desc.rank() == 2 && a.desc.rank() > 2) {
      OPSERVE_ASSIGN_OR_RETURN(const ValueView rows, Stacked(rule, a));
      OPSERVE_ASSIGN_OR_RETURN(const ValueView gradients, Stacked(rule, gradient));
      return finished(Product(rule, Transposed(rows), gradients), 1);
    }
    return finished(Product(rule, Transposed(a), gradient), 1);
  });
}

absl::Status OfAddmm(const Rule& rule) {
  OPSERVE_RETURN_IF_ERROR(
      rule.SetWanted(0, [&] { return rule.Scaled(rule.gradient(), rule.number("beta")); }));
  const auto product = [&](const ValueView& a, const ValueView& b) -> Views {
    OPSERVE_ASSIGN_OR_RETURN(const ValueView made, Product(rule, a, b));
    return rule.Scaled(made, rule.number("alpha"));
  };
  OPSERVE_RETURN_IF_ERROR(
      rule.SetWanted(1, [&] { return product(rule.gradient(), Transposed(rule.input(2))); }));
  return rule.SetWanted(2, [&] { return product(Transposed(rule.input(1)), rule.gradient()); });
}

absl::Status OfEmbedding(const Rule& rule) {
  const ValueView indices = rule.input(1);
  return rule.SetWanted(0, [&] {
    return rule.Apply("EmbeddingDenseBackward", {rule.gradient(), indices},
                      {{"num_weights", rule.input(0).desc.shape[0]}});
  });
}

std::vector<int64_t> ListOf(const Dims& dims) { return {dims.begin(), dims.end()}; }

absl::Status OfNearest(const Rule& rule) {
  return rule.Set(0,
                  rule.Apply("UpsampleNearest2dBackward", {rule.gradient()},
                             {{"output_size", rule.attribute<std::vector<int64_t>>("output_size")},
                              {"input_size", ListOf(rule.input(0).desc.shape)}}));
}

absl::Status OfBilinear(const Rule& rule) {
  return rule.Set(0,
                  rule.Apply("UpsampleBilinear2dBackward", {rule.gradient()},
                             {{"output_size", rule.attribute<std::vector<int64_t>>("output_size")},
                              {"input_size", ListOf(rule.input(0).desc.shape)},
                              {"align_corners", rule.attribute<bool>("align_corners")},
                              {"scales_h", rule.number("scales_h")},
                              {"scales_w", rule.number("scales_w")}}));
}

struct NamedRule {
  std::string_view op;
  absl::Status (*write)(const Rule& rule);
};
constexpr NamedRule kRules[] = {
    {"Add", OfAdd},
    {"Sub", OfSub},
    {"Mul", OfMul},
    {"Div", OfDiv},
    {"Cast", OfCast},
    {"Permute", OfPermute},
    {"ReduceSum", OfReduceSum},
    {"Mean", OfMean},
    {"Matmul", OfMatmul},
    {"BatchMatMul", OfMatmul},
    {"Addmm", OfAddmm},
    {"Embedding", OfEmbedding},
    {"UpsampleNearest2d", OfNearest},
    {"UpsampleBilinear2d", OfBilinear},
};

absl::StatusOr<InputGradients> Write(ProgramBuilder& builder, const BackwardStep& step) {
  const Operator& op = *step.step.call.op;
  if (!op.gradient.op.empty()) return SchemaGradient(builder, step).Write();
  const auto* const rule = std::find_if(std::begin(kRules), std::end(kRules),
                                        [&](const NamedRule& row) { return row.op == op.name; });
  if (rule == std::end(kRules)) {
    return InvalidParameter("gradient", "an operator that has a gradient",
                            absl::StrCat(ToAbsl(op.name), ", which has none"));
  }
  InputGradients gradients(op.inputs.size());
  OPSERVE_RETURN_IF_ERROR(rule->write({builder, step, gradients}));
  return gradients;
}

}  // namespace

absl::StatusOr<InputGradients> GradientsOf(ProgramBuilder& builder, const BackwardStep& step) {
  absl::StatusOr<InputGradients> gradients = Write(builder, step);
  if (gradients.ok()) return gradients;
  // An error of the steps that were written names those.
  const std::optional<ErrorDetail> detail = GetErrorDetail(gradients.status());
  if (detail.has_value() && !detail->op.empty()) return gradients.status();
  return WithStep(WithOperator(gradients.status(), step.step.call.op->name), step.step.name);
}

}  // namespace opserve
