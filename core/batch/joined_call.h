// Calls joined end to end: one call on flat tensors, whose elements are those of the calls in turn.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "core/device/device.h"
#include "core/op/op_call.h"

namespace opserve {

// Planned calls with equal keys may be joined; one with an empty key runs by itself. A key is given
// to maps of elements (Concatenation) that are plain throughout: all tensors of one shape, dense
// from the start of their storage, outputs made by the call.
std::string JoinKey(const OpCall& call, const Concatenation& concatenation);

// Elements of a call that has a key.
int64_t JoinedElements(const OpCall& call);

// The planned call on `elements` elements, of the calls that have the key of `one`.
absl::StatusOr<OpCall> JoinedCall(const OpCall& one, int64_t elements);

}  // namespace opserve
