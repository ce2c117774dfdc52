// One call of one operator, by position: what phase one checks and plans, and what a kernel runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "core/op/attribute.h"
#include "core/op/operator.h"
#include "core/op/profile.h"
#include "core/tensor/tensor_desc.h"

namespace opserve {

// An output before and after inference.
struct OutputSlot {
  enum class Origin : uint8_t {
    kInferred,  // opserve makes it: dense; dtype and shape may have been asked for
    kGiven,     // the caller's memory: `desc` is complete, with strides and offset
    kMissing,   // a null pointer in the C interface, a masked-out buffer in a session
  };
  Origin origin = Origin::kInferred;

  // kInferred: what the caller asked for, if anything.
  DType requested_dtype = DType::kUndefined;
  std::optional<Dims> requested_shape;

  // kGiven: set by the caller. kInferred: set by inference.
  TensorDesc desc;

  // Set to false by inference when the call masks this output out: it has shape [0] and is neither
  // computed nor sent.
  bool wanted = true;
};

// In schema order throughout; PlanCall requires the three lists to have the schema's sizes
// (MakeOpCall does that).
struct OpCall {
  const Operator* op = nullptr;
  Profile profile = Profile::kHost;
  absl::InlinedVector<std::optional<TensorDesc>, 3> inputs;  // nullopt = not given
  absl::InlinedVector<AttributeValue, 2>
      attributes;  // of the schema's kinds once planned; defaults filled in
  absl::InlinedVector<OutputSlot, 1> outputs;

  // For inference and kernels; the input must have been given, the attribute must be of type T.
  const TensorDesc& input(int index) const { return *inputs[static_cast<size_t>(index)]; }
  bool has_input(int index) const { return inputs[static_cast<size_t>(index)].has_value(); }
  template <typename T>
  const T& attribute(int index) const {
    return std::get<T>(attributes[static_cast<size_t>(index)]);
  }
  OutputSlot& output(int index) { return outputs[static_cast<size_t>(index)]; }
  const OutputSlot& output(int index) const { return outputs[static_cast<size_t>(index)]; }

  // Dtypes with which this call's profile runs the operator.
  DTypeSet supported() const { return op->support[static_cast<size_t>(profile)]; }

  // Whether a planned call has nothing to compute: no output is wanted that has elements.
  bool makes_nothing() const;

  // Sums over the given inputs and the wanted outputs of a planned call.
  int64_t input_bytes() const;
  int64_t output_bytes() const;
};

// A call with the right number of empty slots.
OpCall MakeOpCall(const Operator& op, Profile profile);

// Phase one: the profile has the operator (UNIMPLEMENTED); required outputs, inputs and attributes
// are there (161001); attributes are of their kinds, every tensor description is sound by itself
// (161002); then the operator's own checks. Fills in defaults and the outputs. Errors name the
// operator.
absl::Status PlanCall(OpCall& call);

}  // namespace opserve
