// Calls of CtcLoss and CtcLossBackward.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "core/op/op_table.h"
#include "gtest/gtest.h"
#include "tests/support/case_rows.h"
#include "tests/support/log_softmax.h"
#include "tests/support/reference_rows.h"

namespace opserve::testing {
namespace {

struct CtcSizes {
  std::string_view label;
  int64_t steps, classes;
  std::vector<int64_t> input_lengths;
  std::vector<int64_t> target_lengths;
};

// `lengths` in turn.
std::vector<int64_t> InTurn(const std::vector<int64_t>& lengths, size_t count) {
  std::vector<int64_t> all;
  for (size_t i = 0; i < count; ++i) all.push_back(lengths[i % lengths.size()]);
  return all;
}

const std::vector<CtcSizes>& AllSizes() {
  static const std::vector<CtcSizes> sizes = {
      {"usual", 12, 7, {12, 12, 12}, {4, 4, 4}},
      {"ragged", 15, 9, {15, 3, 8, 1}, {5, 3, 0, 1}},
      {"one", 1, 2, {1}, {1}},
      {"impossible", 4, 5, {4, 2, 4}, {3, 4, 2}},  // a target longer than its input: infinite loss
      {"empty_input", 5, 4, {0, 5, 0}, {2, 1, 0}},
      {"no_targets", 6, 3, {6, 4}, {0, 0}},
      {"many_classes", 9, 300, {9, 7}, {3, 4}},
      {"long", 70, 30, {70, 64}, {20, 31}},
      {"nobody", 5, 4, {}, {}},
      {"few_samples", 40, 900, {40, 33}, {5, 9}},  // threads share the steps of each
      // The blank after the last label is the first lane of a vector of its own.
      {"whole_vectors", 80, 6, {80, 76, 60, 40}, {32, 16, 8, 4}},
      // More than chunks of samples, so that one lattice serves several.
      {"many_samples", 6, 4, InTurn({6, 5, 2}, 150), InTurn({3, 2, 0}, 150)},
  };
  return sizes;
}

// log_softmax of normal numbers, as a model would give them.
TestTensor LogProbs(DType dtype, const CtcSizes& size, Rng& rng) {
  const auto batch = static_cast<int64_t>(size.input_lengths.size());
  const Dims shape = {size.steps, batch, size.classes};
  return LogSoftmax(dtype, shape, TestTensor::Random(DType::kFloat64, shape, rng, 2.0).Values());
}

// Labels other than `blank`, with repeats; concatenated, or padded with a label that is out of
// range.
TestTensor Targets(DType dtype, const CtcSizes& size, int64_t blank, bool padded, Rng& rng) {
  const auto batch = static_cast<int64_t>(size.target_lengths.size());
  const int64_t longest =
      batch == 0 ? 0 : *std::max_element(size.target_lengths.begin(), size.target_lengths.end());
  const int64_t sum =
      std::accumulate(size.target_lengths.begin(), size.target_lengths.end(), int64_t{0});
  const int64_t width = longest + 1;
  const bool boolean = DTypeKindOf(dtype) == DTypeKind::kBool;
  const int64_t range = boolean ? 2 : size.classes;
  TestTensor targets = TestTensor::Full(dtype, padded ? Dims{batch, width} : Dims{sum},
                                        boolean ? 1 : static_cast<double>(size.classes + 5));
  int64_t at = 0;
  for (int64_t b = 0; b < batch; ++b) {
    if (padded) at = b * width;
    for (int64_t i = 0; i < size.target_lengths[static_cast<size_t>(b)]; ++i, ++at) {
      int64_t label = static_cast<int64_t>(rng() % static_cast<uint64_t>(range));
      if (label == blank) label = (label + 1) % range;
      targets.Set(at, IsFloating(dtype) ? Number(static_cast<double>(label)) : Number(label));
    }
  }
  return targets;
}

OpCase Forward(const Operator& op, const CtcSizes& size, DType dtype, DType label, int turn,
               Rng& rng) {
  const int64_t blank = turn % 3 == 0 ? 0 : turn % 3 == 1 ? size.classes - 1 : 1;
  OpCase result;
  result.op = &op;
  result.inputs = {LogProbs(dtype, size, rng), Targets(label, size, blank, turn % 2 == 0, rng)};
  result.attributes = {size.input_lengths, size.target_lengths, blank, turn % 4 < 2};
  return result;
}

// The reference's forward results, rounded, are the backward's inputs.
OpCase Backward(const Operator& op, const CtcSizes& size, DType dtype, DType label, int turn,
                Rng& rng) {
  const Operator& forward_op = **FindOperator("CtcLoss");
  const OpCase forward = Forward(forward_op, size, dtype, label, turn, rng);
  const std::vector<Reference> results = CtcLossReference(forward);
  const auto batch = static_cast<int64_t>(size.input_lengths.size());
  const int64_t width = batch * size.steps == 0
                            ? 1
                            : static_cast<int64_t>(results[1].values.size()) / (batch * size.steps);
  OpCase result;
  result.op = &op;
  result.inputs = {TestTensor::Random(dtype, {batch}, rng), forward.inputs[0], forward.inputs[1],
                   TestTensor::Of(dtype, {batch}, results[0].values),
                   TestTensor::Of(dtype, {batch, size.steps, width}, results[1].values)};
  result.attributes = forward.attributes;
  return result;
}

}  // namespace

std::vector<OpCase> CtcLossCases(const Operator& op, Rng& rng) {
  constexpr DType kLabels[] = {DType::kInt64, DType::kInt32, DType::kFloat32, DType::kFloat16,
                               DType::kBool};
  std::vector<OpCase> cases;
  int turn = 0;
  for (const CtcSizes& size : AllSizes()) {
    for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
      for (const DType label : kLabels) {
        cases.push_back(op.name == "CtcLoss" ? Forward(op, size, dtype, label, turn, rng)
                                             : Backward(op, size, dtype, label, turn, rng));
        cases.back().label =
            absl::StrCat(std::string(size.label), "/", std::string(DTypeShortName(dtype)), "/",
                         std::string(DTypeShortName(label)), "/", turn);
        ++turn;
      }
    }
  }
  return cases;
}

}  // namespace opserve::testing
