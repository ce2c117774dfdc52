// What somebody who plays with an operator has set: its attributes, its inputs, and which of these
// goes over a range.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "core/engine/engine.h"
#include "server/http/port/http_port.h"

namespace opserve::server {

// Of a forward operator that works element by element and has a gradient.
struct Setting {
  const Operator* op = nullptr;
  size_t swept = 0;  // index of the input that goes over the range
  double from = -4;  // finite, less than `to`
  double to = 4;
  std::vector<std::optional<double>> inputs;  // schema order; nullopt = left out; not of `swept`
  std::vector<AttributeValue> attributes;     // schema order; none = has its default
};

// Bounds of `from` and `to`.
inline constexpr double kMostSwept = 1e6;
// Elements of each tensor.
inline constexpr int64_t kPoints = 201;

// The call that computes it, with input i in storage i.
NamedCall CallOf(const Setting& setting);

// What is first shown of an operator; nullopt for one that cannot be played with.
std::optional<Setting> FirstSetting(const Engine& engine, const Operator& op);

// The choices of an attribute with which the operator still works element by element.
std::vector<const AttributeChoice*> PlayableChoices(const Engine& engine, const Setting& setting,
                                                    size_t attribute);

// `first`, changed as the request's arguments say: sweep=NAME, from=NUMBER, to=NUMBER,
// i.NAME=NUMBER, a.NAME=VALUE. An input without a value is left out; arguments of other names are
// not looked at. Errors (161002) name the argument.
absl::StatusOr<Setting> ReadSetting(const Setting& first, const HttpRequest& request);

}  // namespace opserve::server
