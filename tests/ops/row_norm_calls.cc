#include "tests/ops/row_norm_calls.h"

#include "absl/strings/str_cat.h"

namespace opserve::testing {
namespace {

// From {9, 9000} on: rows that threads share; sums of parameters over several chunks of rows.
const std::vector<RowNormShape> kRowNormShapes = {
    {{4, 6}, 1},        {{5}, 1},
    {{2, 3, 7}, 1},     {{2, 3, 4, 5}, 2},
    {{1, 1}, 1},        {{3, 1}, 1},
    {{0, 3}, 1},        {{3, 0}, 1},
    {{2, 0, 3}, 1},     {{1, 2, 1, 2, 1, 2, 1, 3}, 3},
    {{5, 33}, 1},       {{150, 30}, 1},
    {{300, 257}, 1},    {{3, 2049}, 1},
    {{2, 5000}, 1},     {{9, 9000}, 1},
    {{1, 7, 10001}, 2},
};

}  // namespace

const std::vector<RowNormShape> kMeasuredRows = {
    {{4, 12}, 1}, {{2, 3, 5, 7}, 2}, {{32, 768}, 1}, {{500, 96}, 1}, {{2, 20011}, 1}};

std::vector<OpCase> RowNormCases(
    const std::function<OpCase(const RowNormShape&, DType, int turn, Rng&)>& make, Rng& rng) {
  std::vector<OpCase> cases;
  int turn = 0;
  for (const RowNormShape& shape : kRowNormShapes) {
    const int turns = RowNormShape(shape).all.back() > 4000 ? 1 : 3;
    for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
      for (int i = 0; i < turns; ++i, ++turn) {
        cases.push_back(make(shape, dtype, turn, rng));
        cases.back().label = absl::StrCat(ShapeToString(shape.all), "_", shape.normalized, "/",
                                          std::string(DTypeShortName(dtype)), "/", turn);
      }
    }
  }
  return cases;
}

std::vector<LongCall> RowNormLongCalls(
    const std::function<OpCall(int64_t rows, int64_t elements)>& make) {
  constexpr int64_t kHuge = int64_t{1} << 36;
  struct Size {
    std::string_view label;
    int64_t rows, elements;
  };
  const Size sizes[] = {
      {"rows", kHuge, 64},
      {"single_elements", kHuge, 1},
      {"large_rows", 1 << 14, 1 << 22},
      {"elements", 1, kHuge},
      {"elements_of_many_rows", 40, kHuge},
  };
  std::vector<LongCall> calls;
  for (const Size& size : sizes)
    calls.push_back(Planned(std::string(size.label), make(size.rows, size.elements)));
  return calls;
}

}  // namespace opserve::testing
