// Attribute values as people type them.
#pragma once

#include <string>
#include <string_view>

#include <opserve/schema.h>

#include "absl/status/statusor.h"

namespace opserve::cli {

// "int", "list of bools", …; "value" for kUnknown.
std::string_view KindText(client::AttributeKind kind);

// Parses "1", "0.5", "true", "1,2,3" or "[true,false]" as what `kind` wants: an integer becomes a
// float where a float is wanted. Of kUnknown the text decides. Errors: 161002 naming `name`.
absl::StatusOr<client::AttributeValue> ParseAttribute(std::string_view name,
                                                      client::AttributeKind kind,
                                                      std::string_view text);

// The same for an attribute of an operator: where it has choices, the name of one as well. Errors
// name the choices, and the nearest.
absl::StatusOr<client::AttributeValue> ParseAttribute(const client::AttributeParameter& attribute,
                                                      std::string_view text);

// What the schema allows: "0 none, 1 mean, 2 sum", ">= 0", "each >= 0", "3 elements"; empty where
// that is anything of its kind.
std::string AllowedText(const client::AttributeParameter& attribute);

// The value, by name where it is one of the choices: "mean".
std::string ValueText(const client::AttributeParameter& attribute,
                      const client::AttributeValue& value);

// "1", "0.5", "true", "[1,2,3]": what ParseAttribute reads back to the same value. A string as it
// is.
std::string AttributeText(const client::AttributeValue& value);

}  // namespace opserve::cli
