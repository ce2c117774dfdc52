// Element-wise calls in pieces: a range of the output at a time, from the same ranges of the inputs
// that have the output's shape. Any cuts give the bits of the whole call.
#pragma once

#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/fragments.h"
#include "core/engine/engine.h"

namespace opserve {

// Whether the call may run in pieces with these inputs (schema order) coming in pieces. 161002
// naming `operator` when the call is no map, `device` when it makes no ranges, the output
// when it is not plain, the input that is chunked but not of the output's shape or not plain,
// `chunked` when no input is.
absl::Status CheckPiecewise(const Plan& plan, std::span<const bool> chunked);

// Of a plan that Engine::MakePiecewisePlan made:
// elements [range.begin, range.begin + range.count) of the output, in memory of the host. `inputs`,
// in schema order, are the range's bytes of an input that is chunked, the whole storage of any
// other; what lies in pieces or is not aligned is gathered. Errors: CheckPiecewise's, 161002 for
// bytes that are not the range's, RESOURCE_EXHAUSTED, 361001. Blocks; any thread.
absl::StatusOr<PooledBuffer> RunPiece(const Plan& plan, ElementRange range,
                                      std::span<const bool> chunked,
                                      std::span<const Fragments> inputs);

}  // namespace opserve
