// The tests' Embedding and EmbeddingDenseBackward.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "tests/ops/activation_calls.h"
#include "tests/support/calls.h"

namespace opserve::testing::embedding {
namespace {

struct Table {
  int64_t rows;
  int64_t width;
  Dims indices;
};

TestTensor RandomIndices(DType dtype, const Table& table, Rng& rng) {
  TestTensor indices = TestTensor::Full(dtype, table.indices, 0);
  for (int64_t i = 0; i < indices.count(); ++i)
    indices.Set(i, static_cast<int64_t>(rng() % static_cast<uint64_t>(table.rows)));
  return indices;
}

Dims WithWidth(const Table& table) {
  Dims shape = table.indices;
  shape.push_back(table.width);
  return shape;
}

// What attributes of the gradient are in turns: none, padding, frequencies, both.
std::vector<AttributeValue> AttributesOf(const Table& table, int turn) {
  return {table.rows, turn % 2 == 0 ? AttributeValue(int64_t{-1}) : AttributeValue(int64_t{1}),
          turn / 2 % 2 != 0};
}

OpCase TableCase(const Operator& op, const Table& table, DType dtype, DType index_dtype, int turn,
                 Rng& rng) {
  OpCase op_case;
  op_case.op = &op;
  op_case.label = absl::StrCat(table.rows, "x", table.width, "/", ShapeToString(table.indices), "/",
                               std::string(DTypeShortName(dtype)),
                               std::string(DTypeShortName(index_dtype)), "/", turn % 4);
  const bool is_forward = op.attributes.empty();
  const Dims shape = is_forward ? Dims{table.rows, table.width} : WithWidth(table);
  op_case.inputs = {TestTensor::Random(dtype, shape, rng), RandomIndices(index_dtype, table, rng)};
  if (!is_forward) op_case.attributes = AttributesOf(table, turn);
  return op_case;
}

std::vector<OpCase> Cases(const Operator& op, Rng& rng) {
  const Table tables[] = {{10, 4, {3, 2}}, {3, 1, {}},        {5, 3, {7}},
                          {2, 2049, {3}},  {4, 5000, {2, 2}}, {50, 70, {700}},
                          {1, 9, {40}},    {30000, 2, {9}},   {3, 64, {2, 1, 3, 1, 2, 1, 2}},
                          {7, 1, {40000}}, {4, 3, {0}},       {3, 2, {2, 0, 3}},
                          {6, 0, {5}},     {3, 20, {2000}}};
  std::vector<OpCase> cases;
  int turn = 0;
  for (const Table& table : tables) {
    for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
      const DType index_dtype = turn % 2 == 0 ? DType::kInt64 : DType::kInt32;
      cases.push_back(TableCase(op, table, dtype, index_dtype, turn++, rng));
    }
  }
  return cases;
}

std::vector<OpCase> AccuracyCases(const Operator& op, DType dtype, Rng& rng) {
  // Input 0 of the first has 8 elements.
  const bool is_forward = op.attributes.empty();
  std::vector<OpCase> cases;
  for (int turn = 0; turn < (is_forward ? 1 : 4); ++turn) {
    for (const Table& table : {is_forward ? Table{4, 2, {5}} : Table{3, 2, {4}},
                               Table{100, 64, {40, 5}}, Table{5, 33, {700}}}) {
      cases.push_back(TableCase(op, table, dtype, DType::kInt64, turn, rng));
      cases.back().label = turn / 2 % 2 == 0 ? "sums" : "means";
    }
  }
  if (!is_forward) return cases;
  for (OpCase& op_case : cases) op_case.label = "";
  return cases;
}

std::vector<LongCall> LongCalls(const Operator& op) {
  constexpr int64_t kHuge = int64_t{1} << 36;
  const Table tables[] = {{4, 8, {kHuge}},
                          {kHuge, 2, {16}},
                          {2, kHuge, {8}},
                          {1, 1 << 24, {1 << 14}},
                          {64, 1, {4, kHuge}}};
  std::vector<LongCall> calls;
  for (const Table& table : tables) {
    const TensorDesc indices = Repeated(DType::kInt64, table.indices);
    const std::string label =
        absl::StrCat(table.rows, "x", table.width, "/", ShapeToString(table.indices));
    if (!op.attributes.empty()) {
      const TensorDesc grad = Repeated(DType::kFloat32, WithWidth(table));
      calls.push_back(Planned(label, Draft(op.name, {grad, indices}, AttributesOf(table, 0))));
    } else if (table.rows < kHuge) {
      const TensorDesc weight = Repeated(DType::kFloat32, {table.rows, table.width});
      calls.push_back(Planned(label, Draft(op.name, {weight, indices}, {})));
    }
  }
  return calls;
}

std::vector<Reference> Forward(const OpCase& c) {
  const int64_t width = c.inputs[0]->desc().shape[1];
  std::vector<double> out;
  for (int64_t i = 0; i < c.inputs[1]->count(); ++i) {
    const auto row = static_cast<int64_t>(c.inputs[1]->At(i));
    for (int64_t k = 0; k < width; ++k) out.push_back(c.inputs[0]->At(row * width + k));
  }
  return ExactReference(out);
}

std::vector<Reference> Backward(const OpCase& c) {
  const int64_t rows = std::get<int64_t>(c.attributes[0]);
  const int64_t width = c.inputs[0]->desc().shape.back();
  const std::vector<double> zeros(static_cast<size_t>(rows * width));
  Reference sums = {zeros, zeros};
  std::vector<double> counts(static_cast<size_t>(rows));
  for (int64_t i = 0; i < c.inputs[1]->count(); ++i) {
    const auto row = static_cast<int64_t>(c.inputs[1]->At(i));
    if (row == std::get<int64_t>(c.attributes[1])) continue;
    ++counts[static_cast<size_t>(row)];
    for (int64_t k = 0; k < width; ++k) {
      const double term = c.inputs[0]->At(i * width + k);
      sums.values[static_cast<size_t>(row * width + k)] += term;
      sums.magnitudes[static_cast<size_t>(row * width + k)] += std::fabs(term);
    }
  }
  if (!std::get<bool>(c.attributes[2])) return {sums};
  for (size_t i = 0; i < zeros.size(); ++i) {
    const double count = std::max(counts[i / static_cast<size_t>(width)], 1.0);
    sums.values[i] /= count;
    sums.magnitudes[i] /= count;
  }
  return {sums};
}

// The schema names no gradient: num_weights is no attribute of the forward.
GradientProblem Problem(Rng& rng, int turn) {
  const Table table = {6, 4, {5, turn % 3 + 1}};
  const TestTensor indices = RandomIndices(DType::kInt64, table, rng);
  const TestTensor grad = Normal(WithWidth(table), rng);
  GradientProblem problem;
  problem.variables = {Normal({6, 4}, rng).Values()};
  problem.weights = grad.Values();
  problem.forward = [indices](size_t, const std::vector<double>& values, DType dtype) {
    return CallOf("Embedding", {TestTensor::Of(dtype, {6, 4}, values), indices}, {});
  };
  problem.backward = CallOf("EmbeddingDenseBackward", {grad, indices}, AttributesOf(table, 0));
  return problem;
}

}  // namespace

extern const OperatorTest kEmbeddingTest = {
    .reference = Forward,
    .cases = Cases,
    .accuracy_cases = AccuracyCases,
    .long_calls = LongCalls,
    .ulps = 0.51,
    .aten = "embedding(weight, indices)",
};

extern const OperatorTest kEmbeddingDenseBackwardTest = {
    .reference = Backward,
    .cases = Cases,
    .accuracy_cases = AccuracyCases,
    .long_calls = LongCalls,
    .ulps = 0.51,
    .aten = "embedding_dense_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq)",
    .gradient = Straight(Problem),
};

}  // namespace opserve::testing::embedding
