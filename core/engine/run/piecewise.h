// Element-wise calls in pieces: a range of the output at a time, from the same ranges of the inputs
// that have the output's shape (Engine::RunPiece). Any cuts give the bits of the whole call.
#pragma once

#include "core/engine/load/counters.h"
#include "core/engine/plan/plan.h"

namespace opserve {

// Whether the call may run in pieces with these inputs (schema order) coming in pieces. 161002
// naming `operator` when the call is no map, `device` when it makes no ranges, the output
// when it is not plain, the input that is chunked but not of the output's shape or not plain,
// `chunked` when no input is.
absl::Status CheckPiecewise(const Plan& plan, std::span<const bool> chunked);

// Engine::RunPiece.
absl::StatusOr<PooledBuffer> RunPiece(const Plan& plan, ElementRange range,
                                      std::span<const bool> chunked,
                                      std::span<const Fragments> inputs, ClientId client,
                                      EngineCounters& counters);

}  // namespace opserve
