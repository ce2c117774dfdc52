// Mul and Div: schema.
#include "core/ops/arithmetic_schema.h"

namespace opserve::mul {

extern constinit const Operator kMul = Arithmetic(
    {.name = "Mul", .summary = "The product of two tensors.", .description = "out = self * other"});

extern constinit const Operator kDiv =
    Arithmetic({.name = "Div",
                .summary = "The quotient of two tensors.",
                .description = "out = self / other\n"
                               "Division by 0 gives an infinity, 0 / 0 gives NaN."});

}  // namespace opserve::mul
