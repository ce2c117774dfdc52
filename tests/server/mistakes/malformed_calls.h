// Malformed calls of an operator, made from its schema and one good call: what every operator owes
// (ArgumentMistakes, CallMistakes) and what follows from its own rules (OwnMistakes).
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "core/op/operator.h"
#include "opserve/v1/operator_service.pb.h"

namespace opserve::testing {

using Request = v1::ExecuteRequest;

inline constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
inline constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

struct MalformedCall {
  std::string label;
  v1::ExecuteRequest request;
  std::string parameter;                    // that the error names
  std::string code = "161002";              // aclnn code; empty where there is none
  std::string status = "INVALID_ARGUMENT";  // gRPC's
  // Whether phase one alone (GetWorkspaceSize, which has no bytes) refuses it alike.
  bool in_plan = true;
};

void PrintTo(const MalformedCall& call, std::ostream* out);

using MalformedCalls = std::vector<MalformedCall>;

// A call that succeeds: the first of CasesOf(op) that gives every input, each with at least two
// elements.
v1::ExecuteRequest GoodCall(const Operator& op);

// Inputs: each missing, repeated, misspelt, of every wrong dtype, rank, extent, layout and size.
MalformedCalls InputMistakes(const Operator& op);
// Attributes: each missing, repeated, misspelt, of every wrong kind, as an unfit tensor.
MalformedCalls AttributeMistakes(const Operator& op);
// Outputs asked for, the operator's name, the device, the encoding, the raw entries.
MalformedCalls CallMistakes(const Operator& op);
// What the operator's own checks refuse: ranges, shapes that do not go together, labels. Empty when
// tests/server/mistakes/own_mistakes.cc knows nothing of it.
MalformedCalls OwnMistakes(const Operator& op);

// Collects calls that differ from a good one. Operators of one inference function and as many
// inputs check alike: the first of them gets every mistake, another one of four, each another one.
class MistakeList {
 public:
  using Spoil = std::function<void(v1::ExecuteRequest& request)>;

  explicit MistakeList(const Operator& op);

  const v1::ExecuteRequest& good() const { return good_; }

  // The good call, spoilt; 161002 naming `parameter` unless the result is changed.
  MalformedCall& Add(std::string label, std::string_view parameter, const Spoil& spoil);

  MalformedCalls Take();

 private:
  size_t turn_ = 0;  // among those that check alike
  const v1::ExecuteRequest good_;
  MalformedCalls calls_;
};

// Parts of a request, by name; the test fails where there is none.
v1::Tensor& InputOf(v1::ExecuteRequest& request, std::string_view name);
v1::Attribute& AttributeOf(v1::ExecuteRequest& request, std::string_view name);
std::string& BytesOfInput(v1::ExecuteRequest& request, std::string_view name);

// Another shape or dtype, with bytes to go with it: old ones first, then zeros.
void Reshape(v1::ExecuteRequest& request, std::string_view name, const std::vector<int64_t>& shape);
void Retype(v1::ExecuteRequest& request, std::string_view name, DType dtype);

std::vector<int64_t> ShapeOf(const v1::Tensor& tensor);
void SetShape(v1::Tensor& tensor, const std::vector<int64_t>& shape);
void SetStrides(v1::Tensor& tensor, const std::vector<int64_t>& strides);
v1::Attribute ToAttribute(std::string_view name, const AttributeValue& value);

}  // namespace opserve::testing
