// Several operators in one call, and the gradients of a result (docs/programs.md).
//
//   Program program;
//   const Value h = program.Step("h", "Addmm", {{"self", "b"}, {"mat1", "x"}, {"mat2", "w"}});
//   const Value loss = program.Step("loss", "CrossEntropyLoss", {{"self", h}, {"target",
//   "classes"}}); program.Output("loss", loss).Gradients(loss, {"w", "b"});
//   // The outputs: loss, grad_w, grad_b.
//   auto result = client.Execute(Call(program).Input("x", …).Input("w", …).Input("b", …)
//                                    .Input("classes", …));
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <opserve/attribute_value.h>
#include <opserve/tensor.h>

namespace opserve::client {

// What a step takes: an input of the call by its name ("x"), the first output of an earlier step by
// the step's name ("conv"), any of its outputs ("conv.mean"), each as it is or as a view; or a
// constant.
class Value {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): names are values.
  Value(std::string_view name) : name_(name) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Value(const char* name) : name_(name) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Value(const std::string& name) : name_(name) {}
  // Dense or not; the view's bytes are read when the call is sent.
  static Value Constant(TensorView view);
  // Of float32.
  static Value Constant(float number);

  // Another output of the step that this value stands for.
  Value Of(std::string_view output) const;
  // Its elements in another shape, in their order. One extent may be -1: what is left.
  Value Reshaped(Dims shape) const;
  // Its elements as storage of a view: transposed, broadcast, a slice. In elements.
  Value Viewed(Dims shape, Dims strides, int64_t storage_offset = 0) const;

  struct Layout {
    Dims shape;
    std::optional<Dims> strides;  // nullopt: dense
    int64_t storage_offset = 0;
  };

  const std::string& name() const { return name_; }  // empty: a constant
  const std::optional<Layout>& layout() const { return layout_; }
  const TensorView& constant() const { return constant_; }

 private:
  std::string name_;
  std::optional<Layout> layout_;
  TensorView constant_;
};

struct ProgramStep {
  std::string name;  // of its own, without a dot
  std::string op;
  std::vector<std::pair<std::string, Value>> inputs;
  std::vector<std::pair<std::string, AttributeValue>> attributes;
};

struct ProgramOutput {
  std::string name;
  std::string value;
};

// A value; what is wrong with it the server says when it is planned or executed.
class Program {
 public:
  // Adds a step, which uses what was added before it. The step's first output.
  Value Step(std::string_view name, std::string_view op,
             std::vector<std::pair<std::string, Value>> inputs,
             std::vector<std::pair<std::string, AttributeValue>> attributes = {});
  // A result that the call gives. Of a value as it is, not of a view.
  Program& Output(std::string_view name, const Value& value);
  // Further results: of each input of the call named here, the gradient of `of`, called "grad_" and
  // its name. `of` has one element, or `seed` is the input that is its gradient.
  Program& Gradients(const Value& of, std::vector<std::string> with_respect_to,
                     std::string_view seed = {});
  // The most workspace that the program may take, in bytes: results are computed again where
  // keeping them until the gradients read them takes more. 0: no bound. After Gradients.
  Program& MaxWorkspace(int64_t bytes);

  struct GradientRequest {
    std::string of;
    std::vector<std::string> with_respect_to;
    std::string seed;
    int64_t max_workspace_bytes = 0;
  };
  const std::vector<ProgramStep>& steps() const { return steps_; }
  const std::vector<ProgramOutput>& outputs() const { return outputs_; }
  const std::optional<GradientRequest>& gradients() const { return gradients_; }

 private:
  std::vector<ProgramStep> steps_;
  std::vector<ProgramOutput> outputs_;
  std::optional<GradientRequest> gradients_;
};

// Phase one of a program.
struct ProgramPlan {
  // As it runs: with the steps that compute gradients, without those that no output needs.
  Program program;
  // What results that are no outputs would take if each had memory of its own.
  int64_t intermediate_bytes = 0;
};

}  // namespace opserve::client
