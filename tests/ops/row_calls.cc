#include "tests/ops/row_calls.h"

#include <limits>
#include <string>

#include "absl/strings/str_cat.h"

namespace opserve::testing {
namespace {

struct RowShape {
  Dims shape;
  int64_t dim;
};

OpCase RowCase(const Operator& op, const RowShape& of, DType dtype, Rng& rng) {
  OpCase op_case;
  op_case.op = &op;
  op_case.label = absl::StrCat(ShapeToString(of.shape), "/dim", of.dim, "/",
                               std::string(DTypeShortName(dtype)));
  op_case.attributes = {of.dim};
  for (size_t i = 0; i < op.inputs.size(); ++i)
    op_case.inputs.emplace_back(TestTensor::Random(dtype, of.shape, rng, 2));
  return op_case;
}

// The first input has a row of each kind: one infinity, only negative ones, a NaN, ordinary.
OpCase SpecialRows(const Operator& op, int64_t extent, Rng& rng) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  OpCase op_case = RowCase(op, {{5, extent}, 1}, DType::kFloat32, rng);
  op_case.label = absl::StrCat("special/", extent);
  TestTensor& first = *op_case.inputs[0];
  first.Set(extent / 2, kInfinity);
  for (int64_t i = 0; i < extent; ++i) first.Set(extent + i, -kInfinity);
  first.Set(2 * extent + extent / 3, std::numeric_limits<double>::quiet_NaN());
  first.Set(3 * extent, -kInfinity);
  return op_case;
}

}  // namespace

std::vector<OpCase> RowCases(const Operator& op, Rng& rng) {
  const RowShape shapes[] = {{{}, 0},
                             {{}, -1},
                             {{7}, -1},
                             {{3, 5}, 1},
                             {{3, 5}, -2},
                             {{1, 1}, 0},
                             {{0, 3}, 1},
                             {{3, 0}, 1},
                             {{2, 3, 4, 5}, 2},
                             {{2, 33, 6}, 1},
                             {{40, 100}, 1},
                             {{5000}, 0},
                             {{20, 2049}, 1},
                             {{3, 40000}, 1},
                             {{30000, 3}, 0},
                             {{9000, 4}, 1},
                             {{1, 2, 1, 2, 3, 1, 2, 2}, 4}};
  std::vector<OpCase> cases;
  for (const RowShape& shape : shapes) cases.push_back(RowCase(op, shape, DType::kFloat32, rng));
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    for (const RowShape& shape : {shapes[3], shapes[8], shapes[12], shapes[13]})
      cases.push_back(RowCase(op, shape, dtype, rng));
  }
  for (const int64_t extent : {40, 4000, 30000}) cases.push_back(SpecialRows(op, extent, rng));
  return cases;
}

std::vector<OpCase> RowAccuracyCases(const Operator& op, DType dtype, Rng& rng) {
  const RowShape shapes[] = {{{2, 4}, 1},    {{2, 4}, 0},     {{300, 10}, 1},
                             {{64, 128}, 1}, {{16, 1000}, 1}, {{2, 50257}, 1}};
  std::vector<OpCase> cases;
  for (const RowShape& shape : shapes) cases.push_back(RowCase(op, shape, dtype, rng));
  return cases;
}

std::vector<LongCall> RowLongCalls(const Operator& op) {
  constexpr int64_t kHuge = int64_t{1} << 36;
  const auto call = [&](std::string_view label, const Dims& shape, int64_t dim) {
    const std::vector<TensorDesc> inputs(op.inputs.size(), Repeated(DType::kFloat32, shape));
    return Planned(std::string(label), Draft(op.name, inputs, {dim}));
  };
  return {call("short_rows", {kHuge, 8}, 1),       call("single_elements", {kHuge, 1}, 1),
          call("short_columns", {8, kHuge}, 0),    call("long_rows", {32, kHuge}, 1),
          call("long_rows_of_few", {2, kHuge}, 1), call("long_columns", {kHuge, 3}, 0)};
}

std::vector<Reference> RowReference(const OpCase& op_case, const RowFunction& row) {
  const TestTensor& first = *op_case.inputs[0];
  const Dims& shape = first.desc().shape;
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t asked = std::get<int64_t>(op_case.attributes[0]);
  const auto dim = static_cast<size_t>(asked < 0 ? asked + std::max<int64_t>(1, rank) : asked);
  const int64_t extent = shape.empty() ? 1 : shape[dim];
  const int64_t step = shape.empty() ? 1 : DenseStrides(shape)[dim];
  std::vector<std::vector<double>> inputs;
  for (const std::optional<TestTensor>& input : op_case.inputs) inputs.push_back(input->Values());
  Reference reference;
  reference.values.resize(static_cast<size_t>(first.count()));
  reference.magnitudes = reference.values;
  for (int64_t i = 0; i < first.count(); ++i) {
    if (i / step % extent != 0) continue;
    std::vector<Row> in(inputs.size());
    const auto at = [&](int64_t k) { return static_cast<size_t>(i + k * step); };
    for (size_t n = 0; n < in.size(); ++n) {
      for (int64_t k = 0; k < extent; ++k) in[n].push_back(inputs[n][at(k)]);
    }
    Row values(static_cast<size_t>(extent));
    Row magnitudes = values;
    row(in, values, magnitudes);
    for (int64_t k = 0; k < extent; ++k) {
      reference.values[at(k)] = values[static_cast<size_t>(k)];
      reference.magnitudes[at(k)] = magnitudes[static_cast<size_t>(k)];
    }
  }
  return {reference};
}

}  // namespace opserve::testing
