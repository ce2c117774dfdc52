// A call as callers write it: its arguments by name. Binding it to a schema is where misspelt,
// repeated and unknown arguments are refused, with the nearest name.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "core/op/attribute.h"
#include "core/op/op_call.h"
#include "core/tensor/tensor_desc.h"

namespace opserve {

// Names are views: the caller's message must outlive the binding.
struct NamedInput {
  std::string_view name;
  TensorDesc desc;
  int storage = -1;  // index among the storages that come with the call; -1 in phase one alone
};

struct NamedAttribute {
  std::string_view name;
  AttributeValue value;
};

struct NamedOutput {
  std::string_view name;
  DType dtype = DType::kUndefined;  // kUndefined = inferred
  std::optional<Dims> shape;        // must equal the inferred one
  // The caller's memory (OutputSlot::Origin::kGiven), complete; `dtype` and `shape` are not read
  // then.
  std::optional<TensorDesc> given;
  // Index among the storages for outputs. Without `given`: of memory that the inferred, dense
  // output is to be written to; -1 = it is made.
  int storage = -1;
  // The caller has no place for it (OutputSlot::Origin::kMissing); the rest is not read then.
  bool missing = false;
};

struct NamedCall {
  const Operator* op = nullptr;  // FindOperator's, or `made`
  // An operator that was made for this call (core/program): plans keep it.
  std::shared_ptr<const Operator> made = nullptr;
  std::string_view device;  // empty = the first
  absl::InlinedVector<NamedInput, 3> inputs;
  absl::InlinedVector<NamedAttribute, 2> attributes;
  absl::InlinedVector<NamedOutput, 1> outputs;
};

struct BoundCall {
  OpCall call;
  absl::InlinedVector<int, 3> storages;         // of each input in schema order; -1 = none
  absl::InlinedVector<int, 1> output_storages;  // of each output likewise
};

// By position, not planned yet; the string of an attribute that has choices is the int that it
// names. Errors (161002): an unknown or repeated name, an attribute without a value.
absl::StatusOr<BoundCall> BindCall(const NamedCall& named, Profile profile);

}  // namespace opserve
