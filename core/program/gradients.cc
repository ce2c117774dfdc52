#include "core/program/gradients.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/program/gradient_rules.h"
#include "core/program/recomputation.h"

namespace opserve {
namespace {

class Differentiator {
 public:
  Differentiator(const ProgramGradients& task, ProgramBuilder& builder, size_t segments)
      : task_(task),
        builder_(builder),
        steps_(builder.steps().size()),
        recomputation_(builder, segments) {}

  absl::StatusOr<std::vector<ValueView>> Differentiate() {
    OPSERVE_RETURN_IF_ERROR(MarkDependent());
    OPSERVE_RETURN_IF_ERROR(Seed());
    for (size_t i = steps_; i-- > 0;) OPSERVE_RETURN_IF_ERROR(GoBack(i));
    std::vector<ValueView> gradients;
    for (const int input : task_.with_respect_to) {
      const std::optional<ValueView>& sum = SumOf(input);
      const TensorDesc& desc = builder_.value(input).desc;
      gradients.push_back(sum.value_or(builder_.Filled(desc.dtype, 0, desc.shape)));
    }
    return gradients;
  }

 private:
  // What depends on an input that is differentiated, as far as that goes on.
  absl::Status MarkDependent() {
    sums_.resize(NumValues());
    is_dependent_.assign(NumValues(), false);
    for (const int input : task_.with_respect_to) {
      const TypedProgram::Value& value = builder_.value(input);
      if (!IsFloating(value.desc.dtype))
        return UnsupportedDType(
            "gradient.with_respect_to", "inputs of a floating dtype",
            absl::StrCat(value.name, ", of ", std::string(DTypeName(value.desc.dtype))));
      is_dependent_[static_cast<size_t>(input)] = true;
    }
    for (size_t i = 0; i < steps_; ++i) {
      const TypedProgram::Step& step = builder_.steps()[i];
      bool depends = false;
      for (const int source : step.sources) depends = depends || IsDependent(source);
      for (size_t o = 0; depends && o < step.call.outputs.size(); ++o) {
        const int value = step.value_of(o);
        is_dependent_[static_cast<size_t>(value)] = IsFloating(builder_.value(value).desc.dtype);
      }
    }
    return absl::OkStatus();
  }

  absl::Status Seed() {
    const TypedProgram::Value& of = builder_.value(task_.of);
    if (!of.is_made || !IsFloating(of.desc.dtype))
      return UnsupportedDType(
          "gradient.of", "a value of a floating dtype",
          absl::StrCat(of.name, ", of ", std::string(DTypeName(of.desc.dtype))));
    if (!task_.seed.has_value()) {
      if (of.desc.num_elements() != 1)
        return ShapeMismatch("gradient.of", "a value of one element, where there is no seed",
                             absl::StrCat(of.name, ", of shape ", ShapeToString(of.desc.shape)));
      const Dims shape = of.desc.shape;
      SumOf(task_.of) = builder_.Filled(of.desc.dtype, 1, shape);
      return absl::OkStatus();
    }
    const TypedProgram::Value& seed = builder_.value(*task_.seed);
    if (!SameShape(seed.desc.shape, of.desc.shape))
      return ShapeMismatch(
          "gradient.seed",
          absl::StrCat("shape ", ShapeToString(of.desc.shape), ", that of ", of.name),
          ShapeToString(seed.desc.shape));
    SumOf(task_.of) = builder_.View(*task_.seed);
    return absl::OkStatus();
  }

  absl::Status GoBack(size_t index) {
    recomputation_.GoBackTo(index);
    // A copy: the builder's steps move when one is added.
    const TypedProgram::Step step = builder_.steps()[index];
    BackwardStep back{.step = recomputation_.StepToRead(index), .name = {}};
    back.name = absl::StrCat("grad_", step.name);
    back.of_outputs.resize(step.call.outputs.size());
    bool has_gradient = false;
    for (const int source : step.sources) back.wanted.push_back(IsDependent(source));
    for (size_t o = 0; o < back.of_outputs.size(); ++o) {
      const int value = step.value_of(o);
      if (!IsDependent(value)) continue;
      back.of_outputs[o] = SumOf(value);
      has_gradient = has_gradient || back.of_outputs[o].has_value();
    }
    if (!has_gradient) return absl::OkStatus();
    OPSERVE_ASSIGN_OR_RETURN(const InputGradients gradients, GradientsOf(builder_, back));
    for (size_t i = 0; i < gradients.size(); ++i) {
      if (!gradients[i].has_value()) continue;
      const absl::Status status = Contribute(back, i, step.sources[i], *gradients[i]);
      if (!status.ok())
        return WithStep(WithOperator(status, back.step.call.op->name), back.step.name);
    }
    return absl::OkStatus();
  }

  // Adds to the sum for the value behind an input of a step, at once, so that one sum is kept and
  // not each part.
  absl::Status Contribute(const BackwardStep& back, size_t input, int source, ValueView gradient) {
    const ValueView seen = back.input(input);
    const TensorDesc value = builder_.value(source).desc;
    OPSERVE_ASSIGN_OR_RETURN(gradient,
                             ReducedTo(builder_, back.name, std::move(gradient), seen.desc.shape));
    OPSERVE_ASSIGN_OR_RETURN(
        gradient, ThroughView(builder_, back.name, std::move(gradient), seen.desc, value));
    OPSERVE_ASSIGN_OR_RETURN(gradient,
                             InDType(builder_, back.name, std::move(gradient), value.dtype));
    std::optional<ValueView>& sum = SumOf(source);
    if (!sum.has_value()) {
      sum = std::move(gradient);
      return absl::OkStatus();
    }
    std::string name = absl::StrCat("sum_", builder_.value(source).name);
    std::replace(name.begin(), name.end(), '.', '_');
    OPSERVE_ASSIGN_OR_RETURN(sum, builder_.Apply(name, "Add", {*sum, gradient}));
    return absl::OkStatus();
  }

  // Of the gradients that came for a value so far, in the order in which they came.
  std::optional<ValueView>& SumOf(int value) { return sums_[static_cast<size_t>(value)]; }

  size_t NumValues() const {
    size_t count = 0;
    for (const TypedProgram::Step& step : builder_.steps())
      count = static_cast<size_t>(step.first_value) + step.call.outputs.size();
    for (const int input : task_.with_respect_to)
      count = std::max(count, static_cast<size_t>(input) + 1);
    return std::max(count, static_cast<size_t>(task_.of) + 1);
  }
  bool IsDependent(int value) const {
    return value >= 0 && is_dependent_[static_cast<size_t>(value)];
  }

  const ProgramGradients& task_;
  ProgramBuilder& builder_;
  const size_t steps_;  // of the program itself
  Recomputation recomputation_;
  std::vector<bool> is_dependent_;
  std::vector<std::optional<ValueView>> sums_;
};

}  // namespace

absl::StatusOr<std::vector<ValueView>> AddGradients(const ProgramGradients& gradients,
                                                    ProgramBuilder& builder, size_t segments) {
  return Differentiator(gradients, builder, segments).Differentiate();
}

}  // namespace opserve
