// Add and Sub: schema.
#include "core/ops/arithmetic_schema.h"

namespace opserve::add {
namespace {

constexpr AttributeParam kAlphaOnly[] = {Scalar("alpha", "factor of other", 1)};

}  // namespace

extern constinit const Operator kAdd =
    Arithmetic({.name = "Add",
                .summary = "The sum of two tensors, the second times a scalar.",
                .description = "out = self + alpha * other, rounded once\n"
                               "alpha is taken as float32.",
                .attributes = kAlphaOnly});

extern constinit const Operator kSub =
    Arithmetic({.name = "Sub",
                .summary = "The difference of two tensors, the second times a scalar.",
                .description = "out = self - alpha * other, rounded once\n"
                               "alpha is taken as float32.",
                .attributes = kAlphaOnly});

}  // namespace opserve::add
