// An entry of a load's mix, as a call.
#pragma once

#include <cstdint>

#include <opserve/schema.h>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/loadtest/calls/work.h"
#include "client/loadtest/scenario/scenario.h"

namespace opserve::cli {

// The call that `entry` describes, of an operator with this schema: inputs as they are given, or
// made up from `seed`. Mistakes are UsageErrors that name the operator and the input.
absl::StatusOr<loadtest::Work> MakeBenchWork(const loadtest::OperatorEntry& entry,
                                             const client::OperatorSchema& schema, uint64_t seed,
                                             absl::Duration timeout);

}  // namespace opserve::cli
