#include "tests/bench/kernels/bench_cases.h"

#include <array>
#include <cmath>
#include <random>

#include "absl/strings/str_cat.h"
#include "core/op/op_table.h"

namespace opserve::bench {
namespace {

constexpr int64_t kElements[] = {8, 4 << 10, 1 << 20, 16 << 20};
constexpr DType kDTypes[] = {DType::kFloat32, DType::kBFloat16, DType::kFloat16};

void AddElementwise(int threads, std::vector<BenchCase>& cases) {
  for (const Operator* op : AllOperators()) {
    if (op->runs_in_pieces == nullptr) continue;
    for (const DType dtype : kDTypes) {
      for (const int64_t elements : kElements) {
        BenchCase& added = cases.emplace_back();
        added.op = op->name;
        added.dtype = dtype;
        added.threads = threads;
        added.elements = elements;
      }
    }
  }
}

void AddTimed(int threads, std::vector<BenchCase>& cases) {
  for (const TimedCall& call : TimedCalls()) {
    for (const DType dtype : kDTypes) {
      BenchCase& added = cases.emplace_back();
      added.op = call.op;
      added.dtype = dtype;
      added.kind = BenchCase::Kind::kTimed;
      added.threads = threads;
      added.call = &call;
    }
  }
}

void AddCtcLoss(int threads, std::vector<BenchCase>& cases) {
  for (const char* op : {"CtcLoss", "CtcLossBackward"}) {
    for (const auto& [steps, batch, classes, labels] :
         {std::array<int64_t, 4>{50, 16, 20, 30}, {500, 32, 80, 100}, {150, 8, 5000, 30}}) {
      BenchCase& added = cases.emplace_back();
      added.op = op;
      added.kind = BenchCase::Kind::kCtcLoss;
      added.threads = threads;
      added.steps = steps;
      added.batch = batch;
      added.classes = classes;
      added.labels = labels;
    }
  }
}

}  // namespace

std::string BenchCase::Name() const {
  const std::string tail = absl::StrCat("/threads:", threads);
  std::string head = absl::StrCat(op, "/", std::string(DTypeShortName(dtype)), "/");
  switch (kind) {
    case Kind::kElementwise:
      return absl::StrCat(head, elements, tail);
    case Kind::kTimed:
      return absl::StrCat(head, call->label, tail);
    case Kind::kCtcLoss:
      return absl::StrCat(head, "T", steps, "N", batch, "C", classes, "S", labels, tail);
  }
  return head;
}

std::vector<BenchCase> AllBenchCases(int threads) {
  std::vector<BenchCase> cases;
  for (const int count : {1, threads}) {
    AddElementwise(count, cases);
    AddTimed(count, cases);
    AddCtcLoss(count, cases);
    if (threads == 1) break;
  }
  return cases;
}

std::vector<float> RandomFloats(int64_t count, uint64_t seed) {
  // Normal numbers cost more than the benchmark; a table of them, walked at random, does as well.
  std::mt19937_64 rng(seed);
  std::normal_distribution<float> normal;
  std::vector<float> table(1 << 16);
  for (float& value : table) value = normal(rng);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = table[rng() % table.size()];
  return values;
}

std::vector<float> RandomLogProbs(int64_t rows, int64_t classes, uint64_t seed) {
  std::vector<float> values = RandomFloats(rows * classes, seed);
  for (int64_t row = 0; row < rows; ++row) {
    float* first = values.data() + row * classes;
    double sum = 0;
    for (int64_t c = 0; c < classes; ++c) sum += std::exp(static_cast<double>(first[c]));
    for (int64_t c = 0; c < classes; ++c) first[c] -= static_cast<float>(std::log(sum));
  }
  return values;
}

std::vector<int64_t> RandomIndices(int64_t count, int64_t begin, int64_t end, uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::vector<int64_t> indices(static_cast<size_t>(count));
  for (int64_t& index : indices)
    index = begin + static_cast<int64_t>(rng() % static_cast<uint64_t>(end - begin));
  return indices;
}

}  // namespace opserve::bench
