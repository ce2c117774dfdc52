// A call's tensors, scalars and arrays as the vendor's library knows them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "core/backends/ascend/npu.h"
#include "core/device/kernel.h"

namespace opserve::ascend {

// Made for one call, destroyed with it. The call must outlive it, and the thread have entered.
class CallObjects {
 public:
  explicit CallObjects(Npu& npu) : npu_(npu) {}
  ~CallObjects();
  CallObjects(const CallObjects&) = delete;
  CallObjects& operator=(const CallObjects&) = delete;

  // Tensors without elements lie at `nothing`, an address of the device's. Fails when the library
  // does not make one.
  absl::Status Make(const KernelArgs& args, std::byte* nothing);

  // By place in the schema, in the types of the C interface. Null for a tensor that the call does
  // not have, or does not want.
  const AclTensor* in(size_t i) const { return inputs_[i]; }
  AclTensor* out(size_t i) const { return outputs_[i]; }
  int64_t integer(int i) const { return call_->attribute<int64_t>(i); }
  double real(int i) const { return call_->attribute<double>(i); }
  bool flag(int i) const { return call_->attribute<bool>(i); }
  // The name of the choice that an int has.
  const char* choice(int i) const;
  const AclScalar* scalar(size_t i) const { return attributes_[i].scalar; }
  const AclIntArray* ints(size_t i) const { return attributes_[i].ints; }
  const AclBoolArray* bools(size_t i) const { return attributes_[i].bools; }

 private:
  // One of them, or none for a number.
  struct AttributeObject {
    AclScalar* scalar = nullptr;
    AclIntArray* ints = nullptr;
    AclBoolArray* bools = nullptr;
  };

  absl::Status MakeInput(const KernelArgs& args, size_t i, std::byte* nothing);
  // What the library is to change in place of input `i`: `output`, which is made what the input is.
  absl::Status CopyToOutput(const KernelArgs& args, size_t i, size_t output);
  absl::Status MakeTensor(const TensorDesc& desc, std::byte* data, AclTensor*& tensor);
  absl::Status MakeAttribute(const AttributeValue& value, AttributeKind kind,
                             AttributeObject& object);
  absl::Status CheckMade(const void* object, const char* function);

  Npu& npu_;
  const OpCall* call_ = nullptr;
  absl::InlinedVector<AclTensor*, 5> inputs_;
  absl::InlinedVector<AclTensor*, 3> outputs_;
  absl::InlinedVector<AttributeObject, 5> attributes_;
};

}  // namespace opserve::ascend
