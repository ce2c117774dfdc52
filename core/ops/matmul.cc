// Matmul, BatchMatMul and Addmm: schema and inference.
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/ops/product_schema.h"

namespace opserve::matmul {
namespace {

constexpr TensorParam kMatmulInputs[] = {
    {"self", "the first factor", "(K), (M, K) or (..., M, K)", kFloatDTypes},
    {"mat2", "the second factor", "(K), (K, N) or (..., K, N)", kFloatDTypes}};
constexpr AttributeParam kMatmulAttributes[] = {kCubeMathType};
constexpr TensorParam kMatmulOutputs[] = {
    {"out", "the product", "(..., M, N), without M where self is a vector, without N where mat2 is",
     kFloatDTypes}};
constexpr std::string_view kMatmulOrder[] = {"self", "mat2", "out", "cube_math_type"};

constexpr TensorParam kBatchInputs[] = {{"self", "the first factors", "(B, M, K)", kFloatDTypes},
                                        {"mat2", "the second factors", "(B, K, N)", kFloatDTypes}};
constexpr TensorParam kBatchOutputs[] = {{"out", "the products", "(B, M, N)", kFloatDTypes}};

constexpr TensorParam kAddmmInputs[] = {
    {"self", "what is added", "any that broadcasts to (M, N)", kFloatDTypes},
    {"mat1", "the first factor", "(M, K)", kFloatDTypes},
    {"mat2", "the second factor", "(K, N)", kFloatDTypes}};
constexpr AttributeParam kAddmmAttributes[] = {{.name = "beta",
                                                .summary = "factor of self",
                                                .kind = AttributeKind::kScalar,
                                                .default_value = AttributeDefault::Float(1.0)},
                                               {.name = "alpha",
                                                .summary = "factor of the product",
                                                .kind = AttributeKind::kScalar,
                                                .default_value = AttributeDefault::Float(1.0)},
                                               kCubeMathType};
constexpr TensorParam kAddmmOutputs[] = {{"out", "the sum", "(M, N)", kFloatDTypes}};
constexpr std::string_view kAddmmOrder[] = {"self",  "mat1", "mat2",          "beta",
                                            "alpha", "out",  "cube_math_type"};

std::string_view FactorName(const OpCall& call, int input) {
  return call.op->inputs[static_cast<size_t>(input)].name;
}

// `want` dimensions; 0 = one or more.
absl::Status CheckFactorRank(const OpCall& call, int input, int want) {
  const int rank = call.input(input).rank();
  if (want == 0 ? rank >= 1 : rank == want) return absl::OkStatus();
  return ShapeMismatch(FactorName(call, input),
                       want == 0 ? "rank >= 1" : absl::StrCat("rank ", want),
                       absl::StrCat("rank ", rank));
}

// Everything before shapes: the promoted dtype.
absl::StatusOr<DType> CheckFactors(const OpCall& call, int first, int rank) {
  OPSERVE_RETURN_IF_ERROR(CheckAttribute(call, static_cast<int>(call.attributes.size()) - 1));
  OPSERVE_ASSIGN_OR_RETURN(const DType promoted, CheckElementwise(call));
  for (const int input : {first, first + 1})
    OPSERVE_RETURN_IF_ERROR(CheckFactorRank(call, input, rank));
  return promoted;
}

// The leading dimensions of a batch of matrices.
std::span<const int64_t> BatchOf(const Dims& shape) {
  return std::span<const int64_t>(shape).first(shape.size() < 2 ? 0 : shape.size() - 2);
}

// The shape of the product of inputs `first` and `first` + 1.
absl::StatusOr<Dims> ProductShapeOf(const OpCall& call, int first) {
  const Dims& a = call.input(first).shape;
  const Dims& b = call.input(first + 1).shape;
  const int64_t depth = b.size() == 1 ? b[0] : b[b.size() - 2];
  if (depth != a.back()) {
    return ShapeMismatch(
        FactorName(call, first + 1),
        absl::StrCat("K = ", a.back(), " as in ", std::string(FactorName(call, first)), "'s shape ",
                     ShapeToString(a)),
        ShapeToString(b));
  }
  std::optional<Dims> shape = BroadcastShapes(BatchOf(a), BatchOf(b));
  if (!shape.has_value()) {
    return ShapeMismatch(FactorName(call, first + 1),
                         absl::StrCat("a batch that broadcasts with ", ShapeToString(BatchOf(a)),
                                      " (", std::string(FactorName(call, first)), ")"),
                         ShapeToString(b));
  }
  if (a.size() > 1) shape->push_back(a[a.size() - 2]);
  if (b.size() > 1) shape->push_back(b.back());
  if (IsCountableProduct(*shape)) return *std::move(shape);
  return ShapeMismatch(FactorName(call, first + 1), "a product of fewer than 2^60 elements",
                       ShapeToString(*shape));
}

absl::Status InferMatmul(OpCall& call) {
  OPSERVE_ASSIGN_OR_RETURN(const DType promoted, CheckFactors(call, 0, 0));
  OPSERVE_ASSIGN_OR_RETURN(const Dims shape, ProductShapeOf(call, 0));
  return SettleOutput(call, 0, promoted, shape);
}

absl::Status InferBatchMatMul(OpCall& call) {
  OPSERVE_ASSIGN_OR_RETURN(const DType promoted, CheckFactors(call, 0, 3));
  const int64_t batch = call.input(0).shape[0];
  if (call.input(1).shape[0] != batch) {
    return ShapeMismatch("mat2", absl::StrCat("B = ", batch, " as in self"),
                         ShapeToString(call.input(1).shape));
  }
  OPSERVE_ASSIGN_OR_RETURN(const Dims shape, ProductShapeOf(call, 0));
  return SettleOutput(call, 0, promoted, shape);
}

absl::Status InferAddmm(OpCall& call) {
  OPSERVE_ASSIGN_OR_RETURN(const DType promoted, CheckFactors(call, 1, 2));
  OPSERVE_ASSIGN_OR_RETURN(const Dims shape, ProductShapeOf(call, 1));
  if (!BroadcastsTo(call.input(0).shape, shape)) {
    return ShapeMismatch(
        "self", absl::StrCat("a shape that broadcasts to the product's ", ShapeToString(shape)),
        ShapeToString(call.input(0).shape));
  }
  return SettleOutput(call, 0, promoted, shape);
}

int64_t MatmulOperations(const OpCall& call) {
  return ProductOperations({call.output(0).desc.num_elements(), call.input(0).shape.back()});
}
int64_t AddmmOperations(const OpCall& call) {
  return ProductOperations({call.output(0).desc.num_elements(), call.input(1).shape.back()});
}

}  // namespace

extern constinit const Operator kMatmul = {
    .name = "Matmul",
    .summary = "The product of two matrices, of a matrix and a vector, or of each of two batches.",
    .description =
        "out[..., m, n] = sum over k of self[..., m, k] * mat2[..., k, n]\n"
        "A self of rank 1 is a row, a mat2 of rank 1 a column; the dimension of 1 that this adds "
        "is "
        "not in the result. Dimensions before the last two are a batch and broadcast. Without any "
        "k the product is zeros. Sums are made in float32, in an order that follows from the "
        "shapes, and rounded once to out's dtype.\n"
        "With the last two dimensions transposed by their strides, which takes no copy, the "
        "gradients are products, too: that of self is the incoming gradient times mat2 transposed, "
        "that of mat2 is self transposed times the incoming gradient, each summed over the batch "
        "dimensions along which its input was broadcast.\n"
        "cube_math_type has no effect on the CPU.",
    .inputs = kMatmulInputs,
    .attributes = kMatmulAttributes,
    .outputs = kMatmulOutputs,
    .support = kProductSupport,
    .c_order = kMatmulOrder,
    .infer = InferMatmul,
    .operations = MatmulOperations,
};

extern constinit const Operator kBatchMatMul = {
    .name = "BatchMatMul",
    .summary = "The products of two batches of matrices.",
    .description =
        "out[b, m, n] = sum over k of self[b, m, k] * mat2[b, k, n]\n"
        "Both inputs have rank 3 and as many matrices. Sums and gradients are as Matmul's.\n"
        "cube_math_type has no effect on the CPU.",
    .inputs = kBatchInputs,
    .attributes = kMatmulAttributes,
    .outputs = kBatchOutputs,
    .support = kProductSupport,
    .c_order = kMatmulOrder,
    .infer = InferBatchMatMul,
    .operations = MatmulOperations,
};

extern constinit const Operator kAddmm = {
    .name = "Addmm",
    .summary = "A matrix plus the product of two others.",
    .description =
        "out = beta * self + alpha * (mat1 times mat2)\n"
        "self broadcasts to the shape of the product. With beta = 0 self is not read, whatever "
        "numbers it holds. beta and alpha are taken as float32; the sum is rounded once to out's "
        "dtype.\n"
        "The gradient of self is beta times the incoming one, summed over the dimensions along "
        "which it was broadcast; those of mat1 and mat2 are alpha times Matmul's.\n"
        "cube_math_type has no effect on the CPU.",
    .inputs = kAddmmInputs,
    .attributes = kAddmmAttributes,
    .outputs = kAddmmOutputs,
    .support = kProductSupport,
    .c_order = kAddmmOrder,
    .infer = InferAddmm,
    .operations = AddmmOperations,
};

}  // namespace opserve::matmul
