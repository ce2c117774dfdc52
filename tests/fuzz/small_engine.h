// The engine that calls from fuzz inputs run on, and what bounds them.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include "core/engine/engine.h"
#include "tests/fuzz/fuzz_input.h"

namespace opserve::fuzz {

// A device of each profile, small enough to run out of memory.
Engine& SmallEngine();

// Its outputs, or the error that it ended with. Blocks.
absl::StatusOr<Outputs> RunToEnd(OneShot shot);

void RequireNothingLent();

// Views repeat elements, so a few bytes can stand for a computation of hours: those are left out.
bool IsQuick(const OpCall& call);
// Likewise, of a program all steps.
bool IsQuick(const Plan& plan);

// Slices that point to `pieces`.
grpc::ByteBuffer BufferOf(const Pieces& pieces);

}  // namespace opserve::fuzz
