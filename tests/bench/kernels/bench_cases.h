// The cases of the kernel benchmark, the same for opserve and for ATen.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"
#include "tests/bench/kernels/timed_calls.h"

namespace opserve::bench {

struct BenchCase {
  enum class Kind : uint8_t { kElementwise, kTimed, kCtcLoss };

  std::string op;
  DType dtype = DType::kFloat32;
  Kind kind = Kind::kElementwise;
  int threads = 1;

  int64_t elements = 0;                                   // kElementwise
  const TimedCall* call = nullptr;                        // kTimed
  int64_t steps = 0, batch = 0, classes = 0, labels = 0;  // kCtcLoss

  // "SmoothL1LossBackward/f32/4096/threads:1"; equal names are compared.
  std::string Name() const;
};

// Every case for 1 thread and for `threads`.
std::vector<BenchCase> AllBenchCases(int threads);

// Normal numbers, the same for the same seed.
std::vector<float> RandomFloats(int64_t count, uint64_t seed);
// log_softmax over the last dimension of normal numbers.
std::vector<float> RandomLogProbs(int64_t rows, int64_t classes, uint64_t seed);
// In [begin, end).
std::vector<int64_t> RandomIndices(int64_t count, int64_t begin, int64_t end, uint64_t seed);

}  // namespace opserve::bench
