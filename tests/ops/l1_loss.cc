// The tests' L1Loss and L1LossBackward.
#include "tests/ops/loss_calls.h"

namespace opserve::testing::l1_loss {
namespace {

// Integers stand beside a float, too.
std::vector<OpCase> Cases(const Operator& op, Rng& rng) {
  const CaseDTypes wide = {"i32_bf16_bool", {DType::kInt32, DType::kBFloat16, DType::kBool}};
  const CaseDTypes narrow = {"f16_i8_u8", {DType::kFloat16, DType::kInt8, DType::kUint8}};
  std::vector<OpCase> cases = ElementwiseCases(op, rng);
  const auto add = [&](const CaseDTypes& dtypes, int64_t reduction) {
    for (OpCase& op_case : ElementwiseCasesOf(op, dtypes, {reduction}, rng))
      cases.push_back(std::move(op_case));
  };
  add(op.inputs.size() == 3 ? wide : narrow, 0);
  add(narrow, 1);
  return cases;
}

std::vector<LongCall> LongCalls(const Operator& op) {
  std::vector<LongCall> calls = LossLongCalls(op);
  calls.push_back(ElementwiseLongCall(op, "integers", {DType::kInt64, DType::kFloat32},
                                      {int64_t{1} << 40}, {int64_t{1}}));
  return calls;
}

const std::vector<std::vector<AttributeValue>> kReductions = {
    {int64_t{0}}, {int64_t{1}}, {int64_t{2}}};

}  // namespace

extern const OperatorTest kL1LossTest = {
    .reference = LossReference,
    .cases = Cases,
    .long_calls = LongCalls,
    .attributes = kReductions,
    .measured = Reductions({}),
    .ulps = 1,
    .aten = "l1_loss(self, target, reduction)",
};

extern const OperatorTest kL1LossBackwardTest = {
    .reference = LossBackwardReference,
    .cases = Cases,
    .long_calls = LongCalls,
    .attributes = kReductions,
    .measured = Reductions({}),
    .ulps = 1,
    // Straight between its bends: differences are exact but for rounding.
    .gradient = {.problem = [](Rng& rng,
                               int turn) { return LossProblem(LossKind::kL1, rng, turn); },
                 .tolerance = 1e-6},
};

}  // namespace opserve::testing::l1_loss
