// The page about an operator, made from its schema.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "client/cpp/schema.h"

namespace opserve::cli {

// `text` in lines of at most 80 columns; its own line breaks stay.
std::string WrappedText(std::string_view text);

// How the operator is called: "opserve run NAME -i INPUT=VALUE …", in lines of at most 80 columns.
std::string OperatorSynopsis(const client::OperatorSchema& schema);

// One line an operator: name and summary.
std::string OperatorList(std::span<const client::OperatorSchema> schemas);

// Name, synopsis, description, inputs, attributes, outputs, profiles and an example command line,
// as a man page has them.
std::string OperatorPage(const client::OperatorSchema& schema);

}  // namespace opserve::cli
