// The tests' Cast.
#include "absl/strings/str_cat.h"
#include "tests/ops/activation_calls.h"
#include "tests/support/calls.h"

namespace opserve::testing::cast {
namespace {

constexpr int64_t kFloat32 = 0;
constexpr int64_t kFloat16 = 1;
constexpr int64_t kBFloat16 = 27;
constexpr DType kFloats[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16};

std::vector<OpCase> Cases(const Operator& op, Rng& rng) {
  std::vector<OpCase> cases;
  for (const int64_t to : {kFloat32, kFloat16, kBFloat16}) {
    for (const DType from : kFloats) {
      for (const Dims& shape : {Dims{4, 2}, Dims{}, Dims{3, 5, 7}, Dims{2, 1, 3, 1, 2, 1, 2, 5},
                                Dims{40000}, Dims{0, 3}}) {
        cases.push_back(CallOf(op.name, {TestTensor::Random(from, shape, rng)}, {to}));
        cases.back().label =
            absl::StrCat(ShapeToString(shape), "/", std::string(DTypeShortName(from)), "/to ", to);
      }
      cases.push_back(CallOf(op.name, {TestTensor::OfAllMagnitudes(from, {4001}, rng)}, {to}));
      cases.back().label =
          absl::StrCat("magnitudes/", std::string(DTypeShortName(from)), "/to ", to);
    }
  }
  return cases;
}

// To the same dtype: no error, then.
std::vector<OpCase> AccuracyCases(const Operator& op, DType dtype, Rng& rng) {
  const int64_t to = dtype == DType::kFloat32   ? kFloat32
                     : dtype == DType::kFloat16 ? kFloat16
                                                : kBFloat16;
  return {CallOf(op.name, {TestTensor::Random(dtype, {8}, rng)}, {to})};
}

std::vector<LongCall> LongCalls(const Operator& op) {
  const auto call = [&op](std::string label, DType from, const Dims& shape, int64_t to) {
    return Planned(std::move(label), Draft(op.name, {Repeated(from, shape)}, {to}));
  };
  return {call("elements", DType::kFloat32, {int64_t{1} << 57}, kBFloat16),
          call("rows", DType::kFloat16, {int64_t{1} << 38, 3}, kFloat32)};
}

}  // namespace

extern const OperatorTest kCastTest = {
    .reference =
        [](const OpCase& c) {
          return MapReference(c, [](const std::vector<double>& in) { return in[0]; });
        },
    .cases = Cases,
    .accuracy_cases = AccuracyCases,
    .long_calls = LongCalls,
    .ulps = 0.51,
};

}  // namespace opserve::testing::cast
