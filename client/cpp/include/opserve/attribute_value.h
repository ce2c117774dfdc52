// What an operator takes besides tensors.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace opserve::client {

// The value of an operator's parameter that is not a tensor. A string is the name of one of its
// choices.
using AttributeValue = std::variant<int64_t, double, bool, std::vector<int64_t>, std::vector<bool>,
                                    std::vector<double>, std::string>;

}  // namespace opserve::client
