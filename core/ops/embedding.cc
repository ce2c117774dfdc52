// Embedding and EmbeddingDenseBackward: schema.
#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/ops/activation_schema.h"

namespace opserve::embedding {
namespace {

constexpr DTypeSet kIndexDTypes{DType::kInt64, DType::kInt32};

constexpr TensorParam kInputs[] = {
    {"weight", "the rows to choose from", "(V, D)", kFloatDTypes},
    {"indices", "the number of a row, in [0, V)", "any of rank 7 or less", kIndexDTypes}};
constexpr TensorParam kOutputs[] = {
    {"out", "the row of each index", "indices', then D", kFloatDTypes}};
constexpr TensorParam kBackwardInputs[] = {
    {"grad", "gradient of the forward's result", "indices', then D", kFloatDTypes},
    {"indices", "the forward's indices, in [0, num_weights)", "any of rank 7 or less",
     kIndexDTypes}};
constexpr TensorParam kBackwardOutputs[] = {
    {"out", "gradient of the forward's weight", "(num_weights, D)", kFloatDTypes}};

constexpr int kNumWeights = 0;
constexpr AttributeParam kBackwardAttributes[] = {
    {.name = "num_weights",
     .summary = "rows of the forward's weight",
     .kind = AttributeKind::kInt,
     .range = kNotNegative,
     .c_type = "uint64_t"},
    {.name = "padding_idx",
     .summary = "an index whose row has no gradient; -1, in C its bits, stands for none",
     .kind = AttributeKind::kInt,
     .default_value = AttributeDefault::Int(-1),
     .range = AttributeRange{.minimum = -1},
     .c_type = "uint64_t"},
    {.name = "scale_grad_by_freq",
     .summary = "whether the gradient of a row is divided by how often its index comes",
     .kind = AttributeKind::kBool,
     .default_value = AttributeDefault::Bool(false)}};

absl::Status CheckIndices(const OpCall& call) {
  const DType dtype = call.input(1).dtype;
  if (kIndexDTypes.Contains(dtype)) return absl::OkStatus();
  return UnsupportedDType("indices", kIndexDTypes.ToString(), DTypeName(dtype));
}

// Whether tensors of this shape have a size in bytes, whatever their dtype.
bool HasSize(const Dims& shape) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 8;
  return NumElements(shape).value_or(kMost + 1) <= kMost;
}

// Dtypes and ranks; the output has the dtype of input 0.
absl::Status CheckTensors(const OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckInputSupported(call, 0));
  OPSERVE_RETURN_IF_ERROR(CheckIndices(call));
  const DType dtype = call.input(0).dtype;
  const DType to = OutputDType(call, 0, dtype);
  if (to != dtype) {
    return UnsupportedDType(
        "out",
        absl::StrCat(std::string(DTypeName(dtype)), ", as ", std::string(call.op->inputs[0].name)),
        DTypeName(to));
  }
  OPSERVE_RETURN_IF_ERROR(CheckRanks(call));
  if (call.input(1).rank() < kMaxRank) return absl::OkStatus();
  return ShapeMismatch("indices", absl::StrCat("rank <= ", kMaxRank - 1),
                       absl::StrCat("rank ", call.input(1).rank()));
}

absl::Status InferForward(OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckTensors(call));
  const TensorDesc& weight = call.input(0);
  if (weight.rank() != 2)
    return ShapeMismatch("weight", "rank 2", absl::StrCat("rank ", weight.rank()));
  Dims shape = call.input(1).shape;
  shape.push_back(weight.shape[1]);
  if (!HasSize(shape)) {
    return ShapeMismatch("indices", "fewer than 2^60 elements of out",
                         ShapeToString(call.input(1).shape));
  }
  return SettleOutput(call, 0, weight.dtype, shape);
}

absl::Status InferBackward(OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckTensors(call));
  for (int i = 0; i < static_cast<int>(call.attributes.size()); ++i)
    OPSERVE_RETURN_IF_ERROR(CheckAttribute(call, i));
  const Dims& grad = call.input(0).shape;
  const Dims& indices = call.input(1).shape;
  const bool agrees =
      grad.size() == indices.size() + 1 && std::equal(indices.begin(), indices.end(), grad.begin());
  if (!agrees) {
    return ShapeMismatch(
        "grad",
        absl::StrCat("the shape of indices, ", ShapeToString(indices), ", and one dimension more"),
        ShapeToString(grad));
  }
  const int64_t rows = call.attribute<int64_t>(kNumWeights);
  const Dims shape = {rows, grad.back()};
  if (!HasSize(shape) || !HasSize({rows}))
    return OutOfRange("num_weights", "fewer than 2^60 elements of out", absl::StrCat(rows));
  return SettleOutput(call, 0, call.input(0).dtype, shape);
}

}  // namespace

extern constinit const Operator kEmbedding = {
    .name = "Embedding",
    .summary = "A row of a matrix for each index.",
    .description =
        "out[i, ..., :] = weight[indices[i, ...], :]\n"
        "An index outside of [0, V) is an error.\n"
        "EmbeddingDenseBackward computes the gradient of weight, with num_weights V.",
    .inputs = kInputs,
    .outputs = kOutputs,
    .support = kActivationSupport,
    .infer = InferForward};

extern constinit const Operator kEmbeddingDenseBackward = {
    .name = "EmbeddingDenseBackward",
    .summary = "Gradient of Embedding with respect to its weight.",
    .description =
        "out[v, :] = sum of grad[i, ..., :] where indices[i, ...] = v, added in float64, or with "
        "scale_grad_by_freq their mean\n"
        "Of padding_idx the row is 0. An index outside of [0, num_weights) is an error, also where "
        "PyTorch would not look at it.",
    .inputs = kBackwardInputs,
    .attributes = kBackwardAttributes,
    .outputs = kBackwardOutputs,
    .support = kActivationSupport,
    .infer = InferBackward};

}  // namespace opserve::embedding
