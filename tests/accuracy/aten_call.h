// PyTorch's function of an operator, found by the name that its test says (operator_test.h).
#pragma once

#include <ATen/ATen.h>

#include <string_view>
#include <vector>

#include "core/op/attribute.h"
#include "core/op/operator.h"

namespace opserve::testing {

// Calls `function`, which is as OperatorTest::aten. Tensors and attributes are in schema order;
// throws what PyTorch throws.
std::vector<at::Tensor> CallAten(const Operator& op, std::string_view function,
                                 const std::vector<at::Tensor>& inputs,
                                 const std::vector<AttributeValue>& attributes);

}  // namespace opserve::testing
