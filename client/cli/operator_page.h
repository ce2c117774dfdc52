// The page about an operator, made from its schema.
#pragma once

#include <span>
#include <string>

#include "client/cpp/schema.h"

namespace opserve::cli {

// One line an operator: name and summary.
std::string OperatorList(std::span<const client::OperatorSchema> schemas);

// Name, synopsis, description, inputs, attributes, outputs, profiles and an example command line,
// as a man page has them.
std::string OperatorPage(const client::OperatorSchema& schema);

}  // namespace opserve::cli
