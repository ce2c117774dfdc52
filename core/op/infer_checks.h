// The checks of which operators' inference functions are made. Each returns 161002 naming the
// schema's parameter. Called by core/ops only.
#pragma once

#include <initializer_list>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/op/op_call.h"

namespace opserve {

// The attribute has one of its choices, lies in its range and has its number of entries, whichever
// the schema has of these.
absl::Status CheckAttribute(const OpCall& call, int attribute);

// reduction of the loss operators; the last only of KlDiv.
enum class Reduction : uint8_t { kNone = 0, kMean = 1, kSum = 2, kBatchMean = 3 };

// Of a planned call.
Reduction ReductionOf(const OpCall& call, int attribute);

// Rank <= kMaxRank for every given input and output.
absl::Status CheckRanks(const OpCall& call);

// The input's dtype is one that the call's profile has for this operator.
absl::Status CheckInputSupported(const OpCall& call, int input);
// Every given input's dtype.
absl::Status CheckInputsSupported(const OpCall& call);

// The dtype of input `leading` is one that the profile has, and that of all given inputs, but those
// of `except`, and of all outputs.
absl::Status CheckOneDType(const OpCall& call, int leading, std::span<const int> except = {});

// All given inputs promoted together, left to right; an error names the first input that does not
// go with those before.
absl::StatusOr<DType> PromoteInputs(const OpCall& call);

// The dtype that output `output` has or asked for; `inferred` where neither.
DType OutputDType(const OpCall& call, int output, DType inferred);
// OutputDType is one that the call's profile has for this operator.
absl::Status CheckOutputSupported(const OpCall& call, int output, DType inferred);
// `from` may be stored in the output.
absl::Status CheckOutputCast(const OpCall& call, int output, DType from);

// All given inputs broadcast together, to fewer than 2^60 elements; an error names the first input
// that does not go with those before.
absl::StatusOr<Dims> BroadcastInputs(const OpCall& call);

// The output has `shape`: a given or asked-for shape must be equal; then its description is filled
// in.
absl::Status SettleOutput(OpCall& call, int output, DType inferred, std::span<const int64_t> shape);

// The output is not computed: shape [0].
void MaskOutput(OpCall& call, int output, DType dtype);

// Of an element-wise operator with one output: dtypes, ranks, promotion, cast; the promoted dtype.
absl::StatusOr<DType> CheckElementwise(const OpCall& call);
// All of its inference: these, and the broadcast shape.
absl::Status InferElementwise(OpCall& call);

}  // namespace opserve
