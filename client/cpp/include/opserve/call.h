// One call of an operator or of a program, and its result.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <opserve/program.h>
#include <opserve/schema.h>
#include <opserve/tensor.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace opserve::client {

using SharedOutputs = std::vector<std::pair<std::string, SharedTensorView>>;

// An operator by name, with its named tensors and attributes in any order. `opserve ops NAME` and
// Client::ListOperators describe each operator. A value: use it for as many calls as you like.
// Inputs are views; TensorView says how long their memory must live.
class Call {
 public:
  // `op` without the aclnn prefix: "SmoothL1LossBackward".
  explicit Call(std::string_view op) : op_(op) {}
  // Of a program, whose inputs are the call's and whose outputs are the result's.
  explicit Call(Program program)
      : op_("Program"), program_(std::make_shared<const Program>(std::move(program))) {}

  Call& Input(std::string_view name, TensorView view) {
    inputs_.emplace_back(std::string(name), std::move(view));
    return *this;
  }
  // An int is accepted where a float is wanted.
  Call& Attribute(std::string_view name, AttributeValue value) {
    attributes_.emplace_back(std::string(name), std::move(value));
    return *this;
  }
  // A bool, an integer that int64 holds, or a float.
  template <typename T>
  requires(std::is_floating_point_v<T> ||
           (std::is_integral_v<T> &&
            (std::is_signed_v<T> ||
             sizeof(T) < sizeof(int64_t)))) Call& Attribute(std::string_view name, T value) {
    if constexpr (std::is_same_v<T, bool>) return Attribute(name, AttributeValue{value});
    if constexpr (std::is_floating_point_v<T>)
      return Attribute(name, AttributeValue{static_cast<double>(value)});
    return Attribute(name, AttributeValue{static_cast<int64_t>(value)});
  }
  // The name of one of the attribute's choices: Attribute("reduction", "mean").
  template <typename T>
  requires std::is_convertible_v<const T&, std::string_view> Call& Attribute(std::string_view name,
                                                                             const T& choice) {
    const std::string_view words = choice;
    return Attribute(name, AttributeValue{std::string(words)});
  }
  // Asks for an output in another dtype than the operator infers.
  Call& OutputDType(std::string_view name, DType dtype) {
    output_dtypes_.emplace_back(std::string(name), dtype);
    return *this;
  }
  // Where an output is to be written: dense, of the shape and dtype that the operator infers (or
  // can convert to). It must not overlap what the call reads, nor its other outputs. Execute and
  // ExecuteBatch take it, sessions do not.
  Call& Output(std::string_view name, SharedTensorView view) {
    outputs_.emplace_back(std::string(name), std::move(view));
    return *this;
  }
  // "cpu:0"; the server's first device when it is not called.
  Call& OnDevice(std::string_view device) {
    device_ = device;
    return *this;
  }

  // Asks for ExecuteResult::execution.
  Call& ReportExecution() {
    reports_execution_ = true;
    return *this;
  }

  const std::string& op() const { return op_; }
  const Program* program() const { return program_.get(); }  // nullptr: of an operator
  const std::vector<std::pair<std::string, TensorView>>& inputs() const { return inputs_; }
  const std::vector<std::pair<std::string, AttributeValue>>& attributes() const {
    return attributes_;
  }
  const std::vector<std::pair<std::string, DType>>& output_dtypes() const { return output_dtypes_; }
  const SharedOutputs& outputs() const { return outputs_; }
  const std::string& device() const { return device_; }
  bool reports_execution() const { return reports_execution_; }

 private:
  std::string op_;
  std::shared_ptr<const Program> program_;
  std::vector<std::pair<std::string, TensorView>> inputs_;
  std::vector<std::pair<std::string, AttributeValue>> attributes_;
  std::vector<std::pair<std::string, DType>> output_dtypes_;
  SharedOutputs outputs_;
  std::string device_;
  bool reports_execution_ = false;
};

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

// How a call was executed. Of calls that ran together as one, the times are those of all of them
// divided by their number.
struct Execution {
  std::string device;       // "cpu:0"
  absl::Duration queued;    // from when the server had read the call until it began to run
  absl::Duration executed;  // while it ran
};

// The outputs, in the order of the operator's schema. One that the call masks out has shape [0].
struct ExecuteResult {
  std::vector<NamedTensor> outputs;
  std::optional<Execution> execution;  // of a call that asked for it (Call::ReportExecution)

  // The output called `name`, or nullptr. The server decides which outputs there are.
  const Tensor* Find(std::string_view name) const {
    for (const NamedTensor& output : outputs) {
      if (output.name == name) return &output.tensor;
    }
    return nullptr;
  }

  // Its elements, which live as long as this result or a copy of the tensor. INTERNAL where the
  // server sent no such output, or one of another dtype than T's. Keep what it returns in a
  // variable: `for (float value : *result->Elements<float>("out"))` reads a temporary that is gone.
  template <typename T>
  absl::StatusOr<std::span<const T>> Elements(std::string_view name) const {
    const Tensor* const tensor = Find(name);
    const absl::Status found = CheckFound(name, tensor, DTypeOf<T>());
    if (!found.ok()) return found;
    return tensor->As<T>();
  }

 private:
  static absl::Status CheckFound(std::string_view name, const Tensor* tensor, DType dtype);
};

// Of each call of a batch, in their order. Small outputs of one batch share their memory: as long
// as one of them is kept, so are the others.
using BatchResults = std::vector<absl::StatusOr<ExecuteResult>>;

}  // namespace opserve::client
