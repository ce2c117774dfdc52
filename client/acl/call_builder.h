// Phase one: from the arguments of a C function to a call of an operator.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "aclnn/aclnn_base.h"
#include "client/acl/objects.h"
#include "client/acl/provider.h"
#include "client/acl/runtime.h"
#include "core/op/operator.h"

namespace opserve::acl {

// Takes the arguments in the C function's order. They are the schema's: its inputs are the const
// tensors, its outputs the others, its attributes all else, each kind in the schema's order.
class CallBuilder {
 public:
  explicit CallBuilder(const Operator& op) : op_(op) { call_.op = op.name; }

  void Add(const aclTensor* input);
  void Add(aclTensor* output);
  void Add(const aclScalar* scalar);
  void Add(const aclIntArray* array);
  void Add(const aclBoolArray* array);
  void Add(int64_t value) { AddAttribute(value); }
  void Add(double value) { AddAttribute(value); }
  void Add(float value) { AddAttribute(static_cast<double>(value)); }
  void Add(bool value) { AddAttribute(value); }

  // The first missing argument (161001), else the first that makes no sense by itself (161002).
  absl::Status Check() const;

  // The call on memory of the runtime, whose tensors' addresses are looked up now.
  const OperatorCall& Resolve(const Runtime& runtime);
  // A failure of phase one in the program's terms: an address that is nobody's is not null.
  absl::Status Explain(const absl::Status& failure) const;

  std::vector<std::string_view> TakeTensorNames() { return std::move(tensor_names_); }

 private:
  struct Tensor {
    size_t argument = 0;  // in call_.inputs or call_.outputs
    bool is_output = false;
    void* address = nullptr;
    bool unresolved = false;  // the address is not the device's
  };

  void AddTensor(TensorArgument argument, const TensorParam& param, bool is_output,
                 const void* handle);
  void AddAttribute(AttributeValue value);
  template <typename Array, typename Table>
  void AddArray(const Array* array, const Table& arrays);
  // Remembers the first of each.
  void NoteMissing(std::string_view parameter, std::string_view want);
  void NoteInvalid(absl::Status status);
  absl::Status Describe(const TensorObject& object, std::string_view name, TensorArgument& argument,
                        Tensor& tensor) const;
  TensorArgument& ArgumentOf(const Tensor& tensor) {
    return (tensor.is_output ? call_.outputs : call_.inputs)[tensor.argument];
  }
  const AttributeParam& NextAttribute() const { return op_.attributes[call_.attributes.size()]; }

  const Operator& op_;
  OperatorCall call_;
  size_t inputs_ = 0;  // null ones, too
  std::vector<Tensor> tensors_;
  std::vector<std::string_view> tensor_names_;
  absl::Status missing_;
  absl::Status invalid_;
};

}  // namespace opserve::acl
