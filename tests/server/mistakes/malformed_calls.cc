#include "tests/server/mistakes/malformed_calls.h"
#include "core/op/op_table.h"
#include "core/tensor/shape.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "tests/support/cases.h"

namespace opserve::testing {
namespace {

// Inputs of two elements or more, in which more can be wrong than in others.
int64_t LargeInputs(const OpCase& op_case) {
  return std::count_if(op_case.inputs.begin(), op_case.inputs.end(),
                       [](const auto& input) { return input.has_value() && input->count() > 1; });
}

bool HasElements(const OpCase& op_case) {
  return std::all_of(op_case.inputs.begin(), op_case.inputs.end(),
                     [](const auto& input) { return !input.has_value() || input->count() > 0; });
}

v1::ExecuteRequest RequestOf(const OpCase& op_case) {
  v1::ExecuteRequest request;
  v1::Call& call = *request.mutable_call();
  call.set_op(std::string(op_case.op->name));
  for (size_t i = 0; i < op_case.inputs.size(); ++i) {
    if (!op_case.inputs[i].has_value()) continue;
    const TestTensor& input = *op_case.inputs[i];
    v1::Tensor& tensor = *call.add_inputs();
    tensor.set_name(std::string(op_case.op->inputs[i].name));
    tensor.set_dtype(static_cast<v1::DataType>(input.desc().dtype));
    tensor.mutable_shape()->Add(input.desc().shape.begin(), input.desc().shape.end());
    tensor.set_raw_index(static_cast<uint32_t>(request.raw_size()));
    request.add_raw(input.bytes().data(), input.bytes().size());
  }
  for (size_t i = 0; i < op_case.attributes.size(); ++i)
    *call.add_attributes() = ToAttribute(op_case.op->attributes[i].name, op_case.attributes[i]);
  return request;
}

struct SetValue {
  v1::Attribute& attribute;

  void operator()(std::monostate) const { attribute.clear_value(); }
  void operator()(int64_t value) const { attribute.set_int_value(value); }
  void operator()(double value) const { attribute.set_float_value(value); }
  void operator()(bool value) const { attribute.set_bool_value(value); }
  void operator()(const std::vector<int64_t>& list) const {
    attribute.mutable_int_list()->mutable_values()->Add(list.begin(), list.end());
  }
  void operator()(const std::vector<bool>& list) const {
    attribute.mutable_bool_list()->mutable_values()->Add(list.begin(), list.end());
  }
  void operator()(const std::vector<double>& list) const {
    attribute.mutable_float_list()->mutable_values()->Add(list.begin(), list.end());
  }
  void operator()(const std::string& text) const { attribute.set_string_value(text); }
};

void FitBytes(v1::ExecuteRequest& request, std::string_view name) {
  const v1::Tensor& tensor = InputOf(request, name);
  const auto count = NumElements(ShapeOf(tensor)).value_or(0);
  BytesOfInput(request, name)
      .resize(static_cast<size_t>(count) * DTypeSize(static_cast<DType>(tensor.dtype())), '\0');
}

}  // namespace

void PrintTo(const MalformedCall& call, std::ostream* out) { *out << call.label; }

v1::ExecuteRequest GoodCall(const Operator& op) {
  static std::map<std::string_view, v1::ExecuteRequest> made;
  const auto found = made.find(op.name);
  if (found != made.end()) return found->second;
  const OpCase* best = nullptr;
  const std::vector<OpCase> cases = CasesOf(op);
  for (const OpCase& op_case : cases) {
    if (!HasElements(op_case)) continue;
    if (best == nullptr || LargeInputs(op_case) > LargeInputs(*best)) best = &op_case;
  }
  if (best == nullptr) {
    ADD_FAILURE() << op.name << " has no case whose inputs have elements";
    return {};
  }
  return made[op.name] = RequestOf(*best);
}

MistakeList::MistakeList(const Operator& op) : good_(GoodCall(op)) {
  for (const Operator* other : AllOperators()) {
    if (other == &op) break;
    if (other->infer == op.infer && other->inputs.size() == op.inputs.size()) ++turn_;
  }
}

MalformedCalls MistakeList::Take() {
  constexpr size_t kShare = 4;
  if (turn_ == 0 || calls_.size() < 2 * kShare) return std::move(calls_);
  MalformedCalls some;
  for (size_t i = turn_ % kShare; i < calls_.size(); i += kShare)
    some.push_back(std::move(calls_[i]));
  return some;
}

MalformedCall& MistakeList::Add(std::string label, std::string_view parameter, const Spoil& spoil) {
  MalformedCall& call = calls_.emplace_back();
  call.label = std::move(label);
  call.parameter = parameter;
  call.request = good_;
  spoil(call.request);
  return call;
}

v1::Tensor& InputOf(v1::ExecuteRequest& request, std::string_view name) {
  for (v1::Tensor& tensor : *request.mutable_call()->mutable_inputs()) {
    if (tensor.name() == name) return tensor;
  }
  ADD_FAILURE() << "no input " << name;
  return *request.mutable_call()->add_inputs();
}

v1::Attribute& AttributeOf(v1::ExecuteRequest& request, std::string_view name) {
  for (v1::Attribute& attribute : *request.mutable_call()->mutable_attributes()) {
    if (attribute.name() == name) return attribute;
  }
  ADD_FAILURE() << "no attribute " << name;
  return *request.mutable_call()->add_attributes();
}

std::string& BytesOfInput(v1::ExecuteRequest& request, std::string_view name) {
  return *request.mutable_raw(static_cast<int>(InputOf(request, name).raw_index()));
}

void Reshape(v1::ExecuteRequest& request, std::string_view name,
             const std::vector<int64_t>& shape) {
  SetShape(InputOf(request, name), shape);
  FitBytes(request, name);
}

void Retype(v1::ExecuteRequest& request, std::string_view name, DType dtype) {
  InputOf(request, name).set_dtype(static_cast<v1::DataType>(dtype));
  FitBytes(request, name);
}

std::vector<int64_t> ShapeOf(const v1::Tensor& tensor) {
  return {tensor.shape().begin(), tensor.shape().end()};
}

void SetShape(v1::Tensor& tensor, const std::vector<int64_t>& shape) {
  tensor.clear_shape();
  tensor.mutable_shape()->Add(shape.begin(), shape.end());
}

void SetStrides(v1::Tensor& tensor, const std::vector<int64_t>& strides) {
  tensor.clear_strides();
  tensor.mutable_strides()->Add(strides.begin(), strides.end());
}

v1::Attribute ToAttribute(std::string_view name, const AttributeValue& value) {
  v1::Attribute attribute;
  attribute.set_name(std::string(name));
  std::visit(SetValue{attribute}, value);
  return attribute;
}

}  // namespace opserve::testing
