// Attribute values as people type them.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "client/cpp/schema.h"

namespace opserve::cli {

// "int", "list of bools", …; "value" for kUnknown.
std::string_view KindText(client::AttributeKind kind);

// Parses "1", "0.5", "true", "1,2,3" or "[true,false]" as what `kind` wants: an integer becomes a
// float where a float is wanted. Of kUnknown the text decides. Errors: 161002 naming `name`.
absl::StatusOr<client::AttributeValue> ParseAttribute(std::string_view name,
                                                      client::AttributeKind kind,
                                                      std::string_view text);

// "1", "0.5", "true", "[1,2,3]": what ParseAttribute reads back to the same value.
std::string AttributeText(const client::AttributeValue& value);

}  // namespace opserve::cli
