// What the schemas of the loss operators share. core/ops only.
#pragma once

#include "core/op/infer_checks.h"
#include "core/op/operator.h"

namespace opserve {

// Dtypes with which all products run the element-wise loss operators, in Profile order.
inline constexpr ProfileSupport kLossSupport = {kFloatDTypes, kFloatDTypes, kFloatDTypes,
                                                DTypeSet{DType::kFloat16, DType::kFloat32},
                                                DTypeSet{DType::kFloat16, DType::kFloat32}};

inline constexpr AttributeChoice kReductions[] = {
    {static_cast<int64_t>(Reduction::kNone), "none", "the loss of each element"},
    {static_cast<int64_t>(Reduction::kMean), "mean", "their mean"},
    {static_cast<int64_t>(Reduction::kSum), "sum", "their sum"}};
inline constexpr AttributeParam kReductionAttribute = {
    .name = "reduction",
    .summary = "what is made of the losses of the elements",
    .kind = AttributeKind::kInt,
    .default_value = AttributeDefault::Int(1),
    .choices = kReductions};

inline constexpr std::string_view kBroadcastShape = "any that broadcasts with the other inputs";
inline constexpr std::string_view kBroadcastResult = "the broadcast of all inputs";
inline constexpr std::string_view kReducedShape =
    "the broadcast of all inputs for reduction none, else a scalar";

// A sum goes over elements that broadcasting makes of fewer bytes, four in the time of an
// operation.
inline int64_t LossOperations(const OpCall& call) {
  if (ReductionOf(call, 0) == Reduction::kNone) return 0;
  const absl::StatusOr<Dims> shape = BroadcastInputs(call);
  return shape.ok() ? NumElements(*shape).value_or(0) / 4 : 0;
}

// A loss of each element is a map, and so is any gradient: its 1/n is that of the whole call.
inline bool LossRunsInPieces(const OpCall& call) {
  return ReductionOf(call, 0) == Reduction::kNone;
}
inline bool LossBackwardRunsInPieces(const OpCall& /*call*/) { return true; }

}  // namespace opserve
