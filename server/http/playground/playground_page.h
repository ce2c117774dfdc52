// The page to play with operators on.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/playground/curves.h"

namespace opserve::server {

// A field that sets an attribute.
struct AttributeField {
  size_t attribute = 0;                         // its place in the schema
  std::vector<const AttributeChoice*> choices;  // of an int that has them
};

struct PlaygroundPage {
  std::span<const Operator* const> operators;  // that can be chosen
  Setting setting;
  std::span<const AttributeField> fields;
  absl::StatusOr<Curves> curves;
  std::string_view address;  // of gRPC
};

// Works without its script, kPlaygroundScript, by a button; with it, curves follow the fields.
std::string WritePlayground(const PlaygroundPage& page);

// At /playground.js.
extern const std::string_view kPlaygroundScript;

}  // namespace opserve::server
