// What the tests of L1Loss and SmoothL1Loss, and of their gradients, share: L1 is SmoothL1 with
// beta 0.
#pragma once

#include <vector>

#include "tests/support/operator_test.h"

namespace opserve::testing {

std::vector<Reference> LossReference(const OpCase& op_case);
std::vector<Reference> LossBackwardReference(const OpCase& op_case);

// Each reduction: none, mean, sum; further attributes behind it.
std::vector<LabelledAttributes> Reductions(const std::vector<AttributeValue>& further);

std::vector<LongCall> LossLongCalls(const Operator& op);

// A gradient of L1 has no beta. `turn` decides about reduction and beta.
enum class LossKind : uint8_t { kL1, kSmoothL1 };
GradientProblem LossProblem(LossKind kind, Rng& rng, int turn);

}  // namespace opserve::testing
