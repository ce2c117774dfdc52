// The page about an operator, made from its schema.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <opserve/schema.h>

namespace opserve::cli {

// `text` in lines of at most 80 columns; its own line breaks stay.
std::string WrappedText(std::string_view text);

// How the operator is called: "opserve run NAME -i INPUT=VALUE …", in lines of at most 80 columns.
std::string OperatorSynopsis(const client::OperatorSchema& schema);

// What a parameter of the operator that computes a gradient is to the forward operator: "grad_out"
// "takes the gradient that comes in for result".
struct GradientLine {
  std::string name;
  std::string meaning;
};

// Its inputs, its outputs and its output mask, in this order.
std::vector<GradientLine> GradientLines(const client::Gradient& gradient);

// One line an operator: name and summary, under the name of its family.
std::string OperatorList(std::span<const client::OperatorSchema> schemas);

// Name, synopsis, description, inputs, attributes, outputs, gradient, profiles and an example
// command line, as a man page has them.
std::string OperatorPage(const client::OperatorSchema& schema);

}  // namespace opserve::cli
