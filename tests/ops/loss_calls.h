// What the tests of L1Loss and SmoothL1Loss, and of their gradients, share: L1 is SmoothL1 with
// beta 0.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "tests/support/operator_test.h"

namespace opserve::testing {

std::vector<Reference> LossReference(const OpCase& op_case);
std::vector<Reference> LossBackwardReference(const OpCase& op_case);

// A loss of each element of the inputs, reduced as attribute 0 says (batchmean is 3), and the
// gradient of each: `slope` of the other inputs, times the gradient that comes in, input 0, times
// 1/n of means. As terms, whose sum is the result and whose magnitudes are what errors are measured
// by. An optional input that is not there is 1.
using Terms = std::function<std::vector<double>(const std::vector<double>&)>;
std::vector<Reference> ReducedReference(const OpCase& op_case, const Terms& loss);
std::vector<Reference> LossGradientReference(const OpCase& op_case, const Terms& slope);

// Calls of losses with optional inputs, each given and not; fewer than of L1.
std::vector<OpCase> LossCases(const Operator& op, Rng& rng);
// self and target as `values` draws them.
using Draw = double (*)(Rng& rng);
std::vector<OpCase> WithValues(std::vector<OpCase> cases, Draw self, Draw target, Rng& rng);

// A gradient of the loss `forward`, of inputs that are drawn so, with each reduction in turns and
// with or without its optional inputs.
GradientProblem DrawnLossProblem(std::string_view forward,
                                 const std::vector<AttributeValue>& further, Draw self, Draw target,
                                 Rng& rng, int turn);

// Each reduction: none, mean, sum; further attributes behind it.
std::vector<LabelledAttributes> Reductions(const std::vector<AttributeValue>& further);

std::vector<LongCall> LossLongCalls(const Operator& op);

// A gradient of L1 has no beta. `turn` decides about reduction and beta.
enum class LossKind : uint8_t { kL1, kSmoothL1 };
GradientProblem LossProblem(LossKind kind, Rng& rng, int turn);

}  // namespace opserve::testing
