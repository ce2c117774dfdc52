// The tests' Matmul, BatchMatMul and Addmm.
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "tests/support/gradient_values.h"
#include "tests/support/operator_test.h"

namespace opserve::testing::matmul {
namespace {

// Inputs in schema order.
using Shapes = std::vector<Dims>;

const Shapes kMatmulShapes[] = {
    {{3}, {3}},
    {{4}, {4, 5}},
    {{2, 3}, {3}},
    {{5, 7}, {7, 9}},
    {{1, 300}, {300, 1}},
    {{130, 70}, {70, 300}},
    {{200, 33}, {33, 7}},
    {{2, 3, 4}, {4, 5}},
    {{2, 3, 4}, {2, 4, 3}},
    {{2, 1, 3, 4}, {5, 4, 6}},
    {{3}, {2, 3, 4}},
    {{2, 5, 3}, {3}},
    {{2, 5, 3}, {2, 3, 1}},
    {{17, 5000}, {5000, 9}},
    {{40000}, {40000}},
    {{0, 3}, {3, 2}},
    {{2, 0}, {0, 3}},
    {{2, 3, 0, 4}, {4, 2}},
    {{0, 2, 3}, {1, 3, 2}},
    {{50, 4, 2, 3}, {4, 3, 2}},
    {{2, 1, 1, 1, 1, 2, 2, 3}, {1, 2, 3, 2}},
    {{2, 3}, {1, 2, 1, 1, 3, 1, 3, 2}},
};
const Shapes kBatchMatMulShapes[] = {
    {{1, 2, 3}, {1, 3, 4}},     {{5, 3, 2}, {5, 2, 6}},     {{0, 2, 3}, {0, 3, 4}},
    {{2, 3, 0}, {2, 0, 4}},     {{3, 100, 1}, {3, 1, 270}}, {{2, 1, 9000}, {2, 9000, 1}},
    {{300, 4, 5}, {300, 5, 3}},
};
const Shapes kAddmmShapes[] = {
    {{2, 4}, {2, 3}, {3, 4}},       {{}, {3, 2}, {2, 5}},           {{7}, {100, 20}, {20, 7}},
    {{1, 300}, {5, 8}, {8, 300}},   {{120, 1}, {120, 65}, {65, 2}}, {{2, 3}, {2, 0}, {0, 3}},
    {{1, 1}, {3, 3000}, {3000, 2}}, {{0, 4}, {0, 3}, {3, 4}},
};

std::vector<AttributeValue> ProductAttributes(const Operator& op, int turn) {
  const AttributeValue type = int64_t{turn % 4};
  if (op.name != "Addmm") return {type};
  constexpr double kFactors[] = {1, 0.7, 0, -2.5};
  return {kFactors[turn % 4], kFactors[(turn / 2 + 1) % 4], type};
}

OpCase ProductCase(const Operator& op, const Shapes& shapes, const std::vector<DType>& dtypes,
                   int turn, Rng& rng) {
  OpCase result;
  result.op = &op;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const DType dtype = dtypes[i % dtypes.size()];
    result.inputs.emplace_back(TestTensor::Random(dtype, shapes[i], rng));
    absl::StrAppend(&result.label, ShapeToString(shapes[i]), std::string(DTypeShortName(dtype)),
                    "/");
  }
  result.attributes = ProductAttributes(op, turn);
  absl::StrAppend(&result.label, turn);
  return result;
}

std::span<const Shapes> ShapesOf(const Operator& op) {
  if (op.name == "Matmul") return kMatmulShapes;
  if (op.name == "Addmm") return kAddmmShapes;
  return kBatchMatMulShapes;
}

std::vector<OpCase> ProductCases(const Operator& op, Rng& rng) {
  const std::vector<DType> dtypes[] = {{DType::kFloat32},
                                       {DType::kFloat16},
                                       {DType::kBFloat16},
                                       {DType::kBFloat16, DType::kFloat16},
                                       {DType::kFloat32, DType::kBFloat16}};
  std::vector<OpCase> cases;
  int turn = 0;
  for (const Shapes& shapes : ShapesOf(op)) {
    for (const std::vector<DType>& list : dtypes)
      cases.push_back(ProductCase(op, shapes, list, turn++, rng));
    cases.push_back(ProductCase(op, shapes, dtypes[0], turn++, rng));
    cases.back().output_dtypes = {turn % 2 == 0 ? DType::kFloat16 : DType::kBFloat16};
  }
  return cases;
}

std::vector<OpCase> ProductAccuracyCases(const Operator& op, DType dtype, Rng& rng) {
  std::vector<OpCase> cases;
  for (const int64_t depth : {2, 128, 2048}) {
    const int64_t side = depth == 2 ? 4 : 48;
    const int64_t batch = depth == 2 ? 1 : 12;
    Shapes shapes = {{side, depth}, {depth, side}};
    if (op.name == "BatchMatMul") shapes = {{batch, 4, depth}, {batch, depth, 4}};
    if (op.name == "Addmm") shapes = {{2, side}, {2, depth}, {depth, side}};
    cases.push_back(ProductCase(op, shapes, {dtype}, 0, rng));
    cases.back().label = absl::StrCat("K ", depth);
  }
  return cases;
}

int64_t ExtentFromEnd(const Dims& shape, size_t from_end) {
  return shape.size() < from_end ? 1 : shape[shape.size() - from_end];
}

// Adds the product of inputs `first` and `first` + 1 times `alpha` to `result`.
void AddProduct(const OpCase& c, size_t first, double alpha, Reference& result) {
  const TestTensor& a = *c.inputs[first];
  const TestTensor& b = *c.inputs[first + 1];
  Dims a_shape = a.desc().shape;
  Dims b_shape = b.desc().shape;
  if (a_shape.size() == 1) a_shape.insert(a_shape.begin(), 1);
  if (b_shape.size() == 1) b_shape.push_back(1);
  const int64_t rows = ExtentFromEnd(a_shape, 2);
  const int64_t depth = a_shape.back();
  const int64_t cols = b_shape.back();
  const Dims a_batch(a_shape.begin(), a_shape.end() - 2);
  const Dims b_batch(b_shape.begin(), b_shape.end() - 2);
  Dims batch = *BroadcastShapes(a_batch, b_batch);
  const int64_t matrices = NumElements(batch).value_or(0);
  batch.insert(batch.end(), {rows, depth});
  const std::vector<double> lefts =
      BroadcastValues(TestTensor::Of(DType::kFloat64, a_shape, a.Values()), batch);
  batch[batch.size() - 2] = depth;
  batch.back() = cols;
  const std::vector<double> rights =
      BroadcastValues(TestTensor::Of(DType::kFloat64, b_shape, b.Values()), batch);
  for (int64_t i = 0; i < matrices * rows * cols; ++i) {
    const int64_t matrix = i / (rows * cols);
    for (int64_t k = 0; k < depth; ++k) {
      const int64_t left = (matrix * rows + i / cols % rows) * depth + k;
      const int64_t right = (matrix * depth + k) * cols + i % cols;
      const double term =
          alpha * lefts[static_cast<size_t>(left)] * rights[static_cast<size_t>(right)];
      result.values[static_cast<size_t>(i)] += term;
      result.magnitudes[static_cast<size_t>(i)] += std::fabs(term);
    }
  }
}

Reference ZeroReference(int64_t count) {
  const std::vector<double> zeros(static_cast<size_t>(count), 0.0);
  return {zeros, zeros};
}

std::vector<Reference> MatmulReference(const OpCase& c) {
  OpCase plain = c;
  Dims a = c.inputs[0]->desc().shape;
  Dims b = c.inputs[1]->desc().shape;
  const int64_t rows = a.size() < 2 ? 1 : ExtentFromEnd(a, 2);
  const int64_t cols = b.size() < 2 ? 1 : b.back();
  a.resize(a.size() < 2 ? 0 : a.size() - 2);
  b.resize(b.size() < 2 ? 0 : b.size() - 2);
  Dims shape = *BroadcastShapes(a, b);
  shape.insert(shape.end(), {rows, cols});
  std::vector<Reference> out = {ZeroReference(NumElements(shape).value_or(0))};
  AddProduct(plain, 0, 1, out[0]);
  return out;
}

std::vector<Reference> AddmmReference(const OpCase& c) {
  const Dims shape = {c.inputs[1]->desc().shape[0], c.inputs[2]->desc().shape[1]};
  std::vector<Reference> out = {ZeroReference(NumElements(shape).value_or(0))};
  const double beta = static_cast<float>(std::get<double>(c.attributes[0]));
  if (beta != 0) {
    const std::vector<double> self = BroadcastValues(*c.inputs[0], shape);
    for (size_t i = 0; i < self.size(); ++i) {
      out[0].values[i] = beta * self[i];
      out[0].magnitudes[i] = std::fabs(beta * self[i]);
    }
  }
  AddProduct(c, 1, static_cast<float>(std::get<double>(c.attributes[1])), out[0]);
  return out;
}

LongCall LongProduct(const Operator& op, std::string label, const Shapes& shapes) {
  std::vector<TensorDesc> inputs;
  inputs.reserve(shapes.size());
  for (const Dims& shape : shapes) inputs.push_back(Repeated(DType::kFloat32, shape));
  return Planned(std::move(label), Draft(op.name, inputs, ProductAttributes(op, 0)));
}

std::vector<LongCall> ProductLongCalls(const Operator& op) {
  constexpr int64_t kHuge = int64_t{1} << 37;
  if (op.name == "Addmm") {
    return {LongProduct(op, "rows", {{kHuge, 2}, {kHuge, 3}, {3, 2}}),
            LongProduct(op, "cols", {{}, {2, 3}, {3, kHuge}}),
            LongProduct(op, "depth", {{2, 2}, {2, kHuge}, {kHuge, 2}}),
            LongProduct(op, "large", {{1}, {1 << 20, 1 << 20}, {1 << 20, 1 << 20}})};
  }
  if (op.name == "BatchMatMul") {
    return {LongProduct(op, "batch", {{kHuge, 2, 3}, {kHuge, 3, 2}}),
            LongProduct(op, "rows", {{2, kHuge, 1}, {2, 1, 2}}),
            LongProduct(op, "cols", {{2, 1, 3}, {2, 3, kHuge}}),
            LongProduct(op, "depth", {{2, 1, kHuge}, {2, kHuge, 1}}),
            LongProduct(op, "no_depth", {{kHuge, 2, 0}, {kHuge, 0, 2}})};
  }
  return {LongProduct(op, "vectors", {{kHuge}, {kHuge}}),
          LongProduct(op, "batch", {{kHuge, 1, 1}, {kHuge, 1, 1}}),
          LongProduct(op, "rows_of_batch", {{kHuge, 2, 3}, {3, 2}}),
          LongProduct(op, "repeated_batch", {{3}, {kHuge, 3, 2}}),
          LongProduct(op, "rows", {{kHuge, 3}, {3}}),
          LongProduct(op, "cols", {{2, 3}, {3, kHuge}}),
          LongProduct(op, "large", {{1 << 20, 1 << 20}, {1 << 20, 1 << 20}})};
}

}  // namespace

extern const OperatorTest kMatmulTest = {
    .reference = MatmulReference,
    .cases = ProductCases,
    .accuracy_cases = ProductAccuracyCases,
    .long_calls = ProductLongCalls,
    .ulps = 8,
    .aten = "matmul(self, mat2)",
};

extern const OperatorTest kBatchMatMulTest = {
    .reference = MatmulReference,
    .cases = ProductCases,
    .accuracy_cases = ProductAccuracyCases,
    .long_calls = ProductLongCalls,
    .ulps = 8,
    .aten = "bmm(self, mat2)",
};

extern const OperatorTest kAddmmTest = {
    .reference = AddmmReference,
    .cases = ProductCases,
    .accuracy_cases = ProductAccuracyCases,
    .long_calls = ProductLongCalls,
    .ulps = 8,
    .aten = "addmm(self, mat1, mat2, beta=beta, alpha=alpha)",
};

}  // namespace opserve::testing::matmul
