// The tests' Permute.
#include "absl/strings/str_cat.h"
#include "tests/ops/activation_calls.h"
#include "tests/support/calls.h"

namespace opserve::testing::permute {
namespace {

struct Permutation {
  Dims shape;
  std::vector<int64_t> dims;
};

OpCase CaseOf(const Permutation& permutation, DType dtype, Rng& rng) {
  OpCase op_case =
      CallOf("Permute", {TestTensor::Random(dtype, permutation.shape, rng)}, {permutation.dims});
  op_case.label =
      absl::StrCat(ShapeToString(permutation.shape), "/", ShapeToString(permutation.dims), "/",
                   std::string(DTypeShortName(dtype)));
  return op_case;
}

std::vector<OpCase> Cases(const Operator& /*op*/, Rng& rng) {
  std::vector<OpCase> cases;
  for (const Permutation& permutation :
       std::vector<Permutation>{{{4, 2}, {1, 0}},
                                {{4, 2}, {0, 1}},
                                {{3, 5, 7}, {2, 0, 1}},
                                {{3, 5, 7}, {-1, -2, -3}},
                                {{300, 301}, {1, 0}},
                                {{2, 3, 1, 2, 2, 1, 3, 2}, {7, 0, 2, 5, 1, 6, 4, 3}},
                                {{4099}, {0}},
                                {{0, 3}, {1, 0}},
                                {{70, 2, 500}, {1, 0, 2}}}) {
    for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16})
      cases.push_back(CaseOf(permutation, dtype, rng));
  }
  return cases;
}

std::vector<OpCase> AccuracyCases(const Operator& /*op*/, DType dtype, Rng& rng) {
  std::vector<OpCase> cases;
  for (const Permutation& permutation :
       std::vector<Permutation>{{{4, 2}, {1, 0}}, {{2, 2, 2}, {-2, 2, 0}}, {{50, 90}, {1, 0}}}) {
    cases.push_back(CaseOf(permutation, dtype, rng));
    cases.back().label = "";
  }
  return cases;
}

std::vector<Reference> Permuted(const OpCase& c) {
  const TensorDesc& self = c.inputs[0]->desc();
  Dims shape, strides;
  const Dims dense = DenseStrides(self.shape);
  for (const int64_t dim : std::get<std::vector<int64_t>>(c.attributes[0])) {
    const auto i = static_cast<size_t>(dim < 0 ? dim + self.rank() : dim);
    shape.push_back(self.shape[i]);
    strides.push_back(dense[i]);
  }
  std::vector<double> out;
  ForEachOffset(shape, strides, [&](int64_t offset) { out.push_back(c.inputs[0]->At(offset)); });
  return ExactReference(out);
}

std::vector<LongCall> LongCalls(const Operator& op) {
  constexpr int64_t kHuge = int64_t{1} << 50;
  const auto call = [&op](std::string label, DType dtype, const Permutation& permutation) {
    return Planned(std::move(label),
                   Draft(op.name, {Repeated(dtype, permutation.shape)}, {permutation.dims}));
  };
  return {call("elements", DType::kFloat32, {{kHuge}, {0}}),
          call("columns", DType::kFloat16, {{kHuge, 3}, {1, 0}}),
          call("rows", DType::kFloat32, {{3, kHuge}, {1, 0}})};
}

}  // namespace

extern const OperatorTest kPermuteTest = {
    .reference = Permuted,
    .cases = Cases,
    .accuracy_cases = AccuracyCases,
    .long_calls = LongCalls,
    .ulps = 0.51,
    .aten = "permute(self, dims)",
};

}  // namespace opserve::testing::permute
