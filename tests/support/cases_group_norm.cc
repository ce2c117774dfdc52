// Calls of GroupNorm and GroupNormBackward.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "tests/support/case_rows.h"

namespace opserve::testing {
namespace {

struct GroupNormSizes {
  int64_t batch, channels, area, groups;
};

// The last three: sums of channels are stored 256 at a time; where rows are short, at most 64
// batches are added at a time.
constexpr GroupNormSizes kSizes[] = {
    {2, 6, 35, 3},   {1, 1, 1, 1},     {3, 4, 1, 2},   {2, 32, 49, 8},
    {1, 4, 5000, 2}, {0, 4, 5, 2},     {2, 4, 0, 2},   {1, 8, 17, 8},
    {5, 3, 196, 1},  {1, 2, 40000, 1}, {40, 64, 9, 4}, {2, 0, 3, 2},
    {1, 8000, 9, 1}, {2, 300, 40, 4},  {3, 520, 4, 2}, {150, 6, 5, 3},
};

TestTensor Positive(DType dtype, const Dims& shape, Rng& rng) {
  TestTensor tensor = TestTensor::Random(dtype, shape, rng);
  for (int64_t i = 0; i < tensor.count(); ++i) tensor.Set(i, 0.5 + std::fabs(tensor.At(i)));
  return tensor;
}

std::optional<TestTensor> ChannelParameter(bool present, DType dtype, const GroupNormSizes& size,
                                           Rng& rng) {
  if (!present) return std::nullopt;
  return TestTensor::Random(dtype, {size.channels}, rng);
}

OpCase Forward(const Operator& op, const GroupNormSizes& size, DType dtype, int turn, Rng& rng) {
  OpCase result;
  result.op = &op;
  const Dims shape = {size.batch, size.channels, size.area};
  TestTensor self = TestTensor::Random(dtype, shape, rng);
  // Away from zero: a one-pass variance would cancel.
  for (int64_t i = 0; i < self.count(); ++i) self.Set(i, self.At(i) + 3);
  result.inputs = {self, ChannelParameter(turn % 2 == 0, dtype, size, rng),
                   ChannelParameter(turn % 4 < 2, dtype, size, rng)};
  result.attributes = {size.batch, size.channels, size.area, size.groups, 1e-5};
  return result;
}

OpCase Backward(const Operator& op, const GroupNormSizes& size, DType dtype, int turn, Rng& rng) {
  OpCase result;
  result.op = &op;
  const Dims shape = {size.batch, size.channels, size.area};
  const Dims groups = {size.batch, size.groups};
  result.inputs = {TestTensor::Random(dtype, shape, rng), TestTensor::Random(dtype, shape, rng),
                   TestTensor::Random(dtype, groups, rng), Positive(dtype, groups, rng),
                   ChannelParameter(turn % 3 != 1, dtype, size, rng)};
  const std::vector<bool> mask = {turn % 8 != 1 && turn % 8 != 3, turn % 8 != 2 && turn % 8 != 3,
                                  turn % 8 != 4};
  result.attributes = {size.batch, size.channels, size.area, size.groups, mask};
  return result;
}

}  // namespace

std::vector<OpCase> GroupNormCases(const Operator& op, Rng& rng) {
  std::vector<OpCase> cases;
  int turn = 0;
  for (const GroupNormSizes& size : kSizes) {
    for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
      for (int i = 0; i < 3; ++i, ++turn) {
        cases.push_back(op.name == "GroupNorm" ? Forward(op, size, dtype, turn, rng)
                                               : Backward(op, size, dtype, turn, rng));
        cases.back().label =
            absl::StrCat("N", size.batch, "_C", size.channels, "_HxW", size.area, "_G", size.groups,
                         "/", std::string(DTypeShortName(dtype)), "/", turn);
      }
    }
  }
  return cases;
}

}  // namespace opserve::testing
