// Several operators in one call, each fed by inputs of the call or by results of earlier ones. A
// program is an operator that is made at run time: its inputs are the call's, its outputs those
// that it names. Whatever is done with calls is done with programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/op/named_call.h"
#include "core/op/operator.h"

namespace opserve {

inline constexpr size_t kMaxProgramSteps = 4096;
// Inputs of a program, and its outputs with its gradients.
inline constexpr size_t kMaxProgramTensors = 1024;
// The name of every program, for errors and statistics.
inline constexpr std::string_view kProgramName = "Program";
// Before the name of an input, that of the output which is its gradient.
inline constexpr std::string_view kGradientPrefix = "grad_";

// A program by names, as clients write it. A value is an input of the program ("x") or an output of
// a step ("conv.out"; "conv" is its first).
struct ProgramSource {
  struct Argument {
    std::string name;   // the operator's input
    std::string value;  // empty: `constant`
    // How the step sees the value's elements; not set: as they are. A dtype, where there is one,
    // is the value's. Of a view without strides one extent may be -1: what is left.
    std::optional<TensorDesc> view;
    bool has_strides = false;              // the view's strides and offset count
    std::vector<std::byte> constant = {};  // the storage of `view`
  };
  struct Step {
    std::string name;
    const Operator* op = nullptr;
    std::vector<Argument> arguments;
    std::vector<NamedAttribute> attributes;  // names must outlive Program::Make only
  };
  struct Output {
    std::string name;
    std::string value;
  };
  // d of / d with_respect_to, for each of these.
  struct Gradients {
    std::string of;
    std::vector<std::string> with_respect_to;  // inputs of the program
    // The input that is the gradient of `of`; empty: 1, of an `of` with one element.
    std::string seed;
    // The most workspace that the program may take: results are computed again, not kept, until it
    // takes no more. 0: any, all are kept.
    int64_t max_workspace_bytes = 0;
  };

  std::vector<std::string> inputs;
  std::vector<Step> steps;
  std::vector<Output> outputs;
  std::optional<Gradients> gradients;
};

// ProgramSource::Gradients by numbers of values.
struct ProgramGradients {
  int of = 0;
  std::vector<int> with_respect_to;
  std::optional<int> seed;
  int64_t max_workspace_bytes = 0;
};

// RESOURCE_EXHAUSTED where there are more than `most` of what `parameter` counts.
absl::Status CheckProgramCount(std::string_view parameter, size_t count, size_t most);

// Names resolved: values are numbered, inputs first, then constants, then the outputs of the steps
// in their order. Immutable.
class Program : public Operator {
 public:
  // Errors (161001, 161002) name the step and its parameter ("conv.weight"), or `gradient`,
  // `outputs`: names that are empty, have a dot or come twice, values that no input and no earlier
  // step has, arguments and attributes that an operator does not have; RESOURCE_EXHAUSTED for more
  // than kMaxProgramSteps or kMaxProgramTensors.
  static absl::StatusOr<std::shared_ptr<const Program>> Make(ProgramSource source);

  struct View {
    TensorDesc desc;
    bool has_strides = false;
  };
  struct Argument {
    int value = 0;
    std::optional<View> view = std::nullopt;
  };
  struct Step {
    std::string name;
    BoundCall bound;  // `storages` index `arguments`
    std::vector<Argument> arguments;
    int first_value = 0;
  };
  struct Constant {
    TensorDesc desc;
    std::vector<std::byte> bytes;
  };

  const std::vector<std::string>& input_names() const { return source_.inputs; }
  const std::vector<Constant>& constants() const { return constants_; }
  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<int>& output_values() const { return output_values_; }
  const std::optional<ProgramGradients>& gradients() const { return gradients_; }

  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

 private:
  class Resolver;
  explicit Program(ProgramSource source);
  void MakeSchema();

  ProgramSource source_;
  std::vector<Constant> constants_;
  std::vector<Step> steps_;
  std::vector<int> output_values_;
  std::optional<ProgramGradients> gradients_;
  std::vector<std::string> output_names_;
  std::vector<TensorParam> input_params_;
  std::vector<TensorParam> output_params_;
};

// The program that an operator is; nullptr for one of the table.
const Program* AsProgram(const Operator& op);

// The status of a step's call, with the step's name before its parameter's.
absl::Status WithStep(const absl::Status& status, std::string_view step);

}  // namespace opserve
