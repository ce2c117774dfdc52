// Phase one: from the arguments of a C function to a call of an operator.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "aclnn/aclnn_base.h"
#include "client/acl/objects/objects.h"
#include "client/acl/objects/operator_executor.h"
#include "client/acl/objects/runtime.h"
#include "client/acl/provider/provider.h"
#include "core/op/operator.h"

namespace opserve::acl {

// Takes the arguments in the C function's order. They are the schema's: its inputs are the const
// tensors, its outputs the others, its attributes all else, each kind in the schema's order.
class CallBuilder {
 public:
  explicit CallBuilder(const Operator& op) : op_(op) { call_.named.op = &op; }

  void Add(const aclTensor* input);
  void Add(aclTensor* output);
  void Add(const aclScalar* scalar);
  void Add(const aclIntArray* array);
  void Add(const aclBoolArray* array);
  // By its bits: the uint64_t 2^64 - 1 is -1.
  template <std::integral Integer>
  void Add(Integer value) {
    AddAttribute(static_cast<int64_t>(value));
  }
  void Add(double value) { AddAttribute(value); }
  void Add(float value) { AddAttribute(static_cast<double>(value)); }
  void Add(bool value) { AddAttribute(value); }
  void Add(const char* choice);

  // After the last argument: the outputs that are written over inputs (core/op/in_place.h).
  void AddOutputsInPlace();

  // The first missing argument (161001), else the first that makes no sense by itself (161002).
  absl::Status Check() const;

  // The call on memory of the runtime, whose tensors' addresses are looked up now.
  const OperatorCall& Resolve(const Runtime& runtime);
  // A failure of phase one in the program's terms: an address that is nobody's is not null.
  absl::Status Explain(const absl::Status& failure) const;

  // In the order of the C function's arguments, those that are null, too. After Resolve.
  std::vector<BoundTensor> TakeTensors() { return std::move(tensors_); }

 private:
  // The layout of the tensor behind `handle`, which becomes the last of `tensors_`.
  TensorDesc AddTensor(const void* handle);
  // The next of `tensors_`, as an index.
  int NextTensor(const TensorParam& param, bool is_given);
  void AddAttribute(AttributeValue value);
  template <typename Array, typename Table>
  void AddArray(const Array* array, const Table& arrays);
  // Remembers the first of each.
  void NoteMissing(std::string_view parameter, std::string_view want);
  void NoteInvalid(absl::Status status);
  const AttributeParam& NextAttribute() const {
    return op_.attributes[call_.named.attributes.size()];
  }

  const Operator& op_;
  OperatorCall call_;
  size_t inputs_ = 0;                 // null ones, too
  std::vector<BoundTensor> tensors_;  // as call_.storages
  std::vector<void*> addresses_;      // likewise
  absl::Status missing_;
  absl::Status invalid_;
};

}  // namespace opserve::acl
