// The tests' ReduceSum and Mean.
#include <cmath>
#include <set>

#include "absl/strings/str_cat.h"
#include "tests/ops/activation_calls.h"
#include "tests/support/calls.h"

namespace opserve::testing::reduce_sum {
namespace {

constexpr int64_t kDTypeOfSelf = -1;
constexpr int64_t kFloat32 = 0;
constexpr int64_t kBFloat16 = 27;
constexpr bool kKept = true;
constexpr bool kGone = false;

struct Sums {
  Dims shape;
  std::vector<int64_t> dims;
  bool keeps = kGone;
};

OpCase CaseOf(const Operator& op, const Sums& sums, DType dtype, Rng& rng,
              int64_t to = kDTypeOfSelf) {
  OpCase op_case =
      CallOf(op.name, {TestTensor::Random(dtype, sums.shape, rng)}, {sums.dims, sums.keeps, to});
  op_case.label =
      absl::StrCat(ShapeToString(sums.shape), "/", ShapeToString(sums.dims), "/",
                   sums.keeps ? "kept/" : "", std::string(DTypeShortName(dtype)), "/to ", to);
  return op_case;
}

// Sums beside each other, of neighbours, of what lies apart; of many, of few, of one, of none.
std::vector<OpCase> Cases(const Operator& op, Rng& rng) {
  std::vector<OpCase> cases;
  for (const Sums& sums : std::vector<Sums>{{{4, 2}, {0}},
                                            {{4, 2}, {1}, kKept},
                                            {{4, 2}, {}},
                                            {{4, 2}, {0, 1}, kKept},
                                            {{}, {}},
                                            {{}, {-1}, kKept},
                                            {{3, 5, 7}, {-2}},
                                            {{3, 5, 7}, {2, 0}},
                                            {{9, 17}, {0}},
                                            {{11, 16}, {-2}, kKept},
                                            {{3, 7, 2, 19}, {1}},
                                            {{3, 7, 2, 19}, {0, 2}},
                                            {{6, 1100}, {0}},
                                            {{2500, 40}, {0}},
                                            {{70, 1030}, {0}},
                                            {{70001}, {0}},
                                            {{3, 40000}, {1}},
                                            {{2, 3, 1, 2, 2, 1, 3, 2}, {7, 1, 3}},
                                            {{2, 3, 1, 2, 2, 1, 2, 20}, {-8, 4, 2}},
                                            {{0, 3}, {1}},
                                            {{3, 0}, {1}},
                                            {{0, 20}, {0}, kKept},
                                            {{5, 1, 20}, {1}}}) {
    for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16})
      cases.push_back(CaseOf(op, sums, dtype, rng));
  }
  cases.push_back(CaseOf(op, {{30, 31}, {0}}, DType::kFloat16, rng, kFloat32));
  cases.push_back(CaseOf(op, {{30, 31}, {1}}, DType::kFloat32, rng, kBFloat16));
  return cases;
}

std::vector<OpCase> AccuracyCases(const Operator& op, DType dtype, Rng& rng) {
  std::vector<OpCase> cases;
  for (const auto& [label, sums] :
       std::vector<std::pair<std::string, Sums>>{{"", {{4, 2}, {0}}},
                                                 {"", {{2, 4}, {1}, kKept}},
                                                 {"", {{2, 2, 2}, {0, 2}}},
                                                 {"", {{8}, {}}},
                                                 {"", {{2, 20}, {0}}},
                                                 {"rows", {{50, 1000}, {1}}},
                                                 {"columns", {{1000, 50}, {0}}},
                                                 {"all", {{100000}, {}}}}) {
    cases.push_back(CaseOf(op, sums, dtype, rng));
    cases.back().label = label;
  }
  return cases;
}

// Of each element of the output, in order, the elements that are summed.
std::vector<Reference> Summed(const OpCase& c, bool is_mean) {
  const TensorDesc& self = c.inputs[0]->desc();
  std::set<int64_t> reduced;
  for (const int64_t dim : std::get<std::vector<int64_t>>(c.attributes[0]))
    reduced.insert(dim < 0 ? dim + self.rank() : dim);
  const bool all = std::get<std::vector<int64_t>>(c.attributes[0]).empty();
  Dims outer, outer_strides, inner, inner_strides;
  const Dims dense = DenseStrides(self.shape);
  for (int64_t i = 0; i < self.rank(); ++i) {
    const bool goes = all || reduced.contains(i);
    (goes ? inner : outer).push_back(self.shape[static_cast<size_t>(i)]);
    (goes ? inner_strides : outer_strides).push_back(dense[static_cast<size_t>(i)]);
  }
  Reference result;
  ForEachOffset(outer, outer_strides, [&](int64_t first) {
    long double sum = 0, magnitude = 0;
    int64_t count = 0;
    ForEachOffset(inner, inner_strides, [&](int64_t offset) {
      const double x = c.inputs[0]->At(first + offset);
      sum += x;
      magnitude += std::fabs(x);
      ++count;
    });
    const long double divisor = is_mean ? static_cast<long double>(count) : 1;
    result.values.push_back(static_cast<double>(sum / divisor));
    result.magnitudes.push_back(static_cast<double>(magnitude / divisor));
  });
  return {result};
}

std::vector<LongCall> LongCalls(const Operator& op) {
  constexpr int64_t kHuge = int64_t{1} << 50;
  const auto call = [&op](std::string label, DType dtype, const Sums& sums) {
    return Planned(std::move(label), Draft(op.name, {Repeated(dtype, sums.shape)},
                                           {sums.dims, sums.keeps, kDTypeOfSelf}));
  };
  return {call("elements", DType::kFloat32, {{kHuge}, {0}}),
          call("columns", DType::kFloat16, {{kHuge, 20}, {0}}),
          call("many columns", DType::kFloat32, {{20, kHuge}, {0}}),
          call("few columns", DType::kFloat16, {{kHuge, 3}, {0}}),
          call("rows", DType::kFloat32, {{3, kHuge}, {1}}),
          call("many rows", DType::kBFloat16, {{kHuge, 3}, {1}})};
}

}  // namespace

extern const OperatorTest kReduceSumTest = {
    .reference = [](const OpCase& c) { return Summed(c, false); },
    .cases = Cases,
    .accuracy_cases = AccuracyCases,
    .long_calls = LongCalls,
    .ulps = 2,
    .aten = "sum.dim_IntList(self, dims, keep_dims)",
};

extern const OperatorTest kMeanTest = {
    .reference = [](const OpCase& c) { return Summed(c, true); },
    .cases = Cases,
    .accuracy_cases = AccuracyCases,
    .long_calls = LongCalls,
    .ulps = 2,
    .aten = "mean.dim(self, dim, keep_dim)",
};

}  // namespace opserve::testing::reduce_sum
