// What a planned call will cost, estimated from its shapes: precise enough to tell tiny calls from
// large ones, and to estimate how long a queue takes.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "absl/time/time.h"
#include "core/base/fragments.h"
#include "core/op/op_call.h"

namespace opserve {

struct Cost {
  int64_t bytes = 0;       // read and written: inputs, outputs, scratch memory
  int64_t operations = 0;  // arithmetic that does not hide behind the memory (Operator::operations)
  absl::Duration time;     // on one thread
};

// The sum of numbers that are not negative, or the largest int64 if it is greater.
int64_t SaturatingSum(std::initializer_list<int64_t> numbers);

Cost EstimateCost(const OpCall& call, size_t scratch_bytes);

// The time to copy so many bytes on one thread.
absl::Duration CopyTime(int64_t bytes);
// How many of the bytes must be copied so that kernels can read them: all or none.
int64_t StagedBytes(const Fragments& bytes);

}  // namespace opserve
