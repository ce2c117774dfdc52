// What an operator is, as a value: its schema and one pure function that checks a call and infers
// its outputs. How it runs is a backend's matter (core/device/kernel.h). The list of all operators
// is core/op/builtin_ops.inc.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "core/op/attribute.h"
#include "core/op/gradient.h"
#include "core/op/profile.h"
#include "core/tensor/dtype.h"

namespace opserve {

struct OpCall;

enum class Presence : uint8_t { kRequired, kOptional };

// An input or an output.
struct TensorParam {
  std::string_view name;     // "grad_output"
  std::string_view summary;  // one line
  std::string_view shape;    // in words or symbols
  DTypeSet dtypes;           // accepted on the host profile
  Presence presence = Presence::kRequired;
};

// One of the values of an int that has names for them; callers may say the name.
struct AttributeChoice {
  int64_t value;
  std::string_view name;
  std::string_view summary;
};

// "0 (none), 1 (mean) or 2 (sum)".
std::string ChoicesInWords(std::span<const AttributeChoice> choices);

// Where a number lies; of a list, each element. NaN lies in no range. Bounds are exact for ints up
// to 2^53.
struct AttributeRange {
  std::optional<double> minimum = {};
  std::optional<double> maximum = {};
  bool minimum_excluded = false;
  bool maximum_excluded = false;

  constexpr bool Contains(double number) const {
    if (minimum.has_value() && !(minimum_excluded ? number > *minimum : number >= *minimum))
      return false;
    if (maximum.has_value() && !(maximum_excluded ? number < *maximum : number <= *maximum))
      return false;
    return number == number;
  }
};
// ">= 0", "> 0", "in [0, 1)"; "a number" where there are no bounds.
std::string RangeInWords(const AttributeRange& range);

inline constexpr AttributeRange kNotNegative = {.minimum = 0};
inline constexpr AttributeRange kPositive = {.minimum = 0, .minimum_excluded = true};

struct AttributeParam {
  std::string_view name;
  std::string_view summary;
  AttributeKind kind;
  AttributeDefault default_value = AttributeDefault::None();  // None = required
  // What its value may be, whatever the other arguments are: CheckAttribute (infer_checks.h) holds
  // a call to it.
  std::span<const AttributeChoice> choices = {};  // of an int; none = any
  std::optional<AttributeRange> range = {};
  int list_length = 0;  // 0 = any
  // Its type in the C interface, where a number's is not that of its kind (int64_t, double, bool).
  // "const char*": the name of a choice.
  std::string_view c_type = {};
  // In the C interface a null pointer stands for the default value.
  bool c_optional = false;
};

struct Operator {
  std::string_view name;     // "SmoothL1LossBackward"
  std::string_view summary;  // one line
  std::string_view
      description;  // the mathematics and the rules; plain text, '\n' between paragraphs
  std::span<const TensorParam> inputs;
  std::span<const AttributeParam> attributes;
  std::span<const TensorParam> outputs;
  ProfileSupport support;
  Gradient gradient = {};

  // All parameters in the order of the C function's, where that is not inputs, attributes, outputs.
  // Each of the three stands in its own order there, too.
  std::span<const std::string_view> c_order = {};

  // Every check that needs no tensor data, in the operator's documented order, and every output's
  // dtype and shape. Called by PlanCall after the checks that are the same for all operators (see
  // there); pure.
  absl::Status (*infer)(OpCall& call);

  // Whether a planned call is a map whose output elements can be made range by range
  // (KernelArgs::range): each from the same element of its inputs, broadcast. nullptr = of no call.
  bool (*runs_in_pieces)(const OpCall& call) = nullptr;

  // About how many scalar operations a planned call takes, where the memory that it moves does not
  // say enough. nullptr = it does.
  int64_t (*operations)(const OpCall& call) = nullptr;

  // Index of the parameter of that name, or -1.
  int FindInput(std::string_view input) const;
  int FindAttribute(std::string_view attribute) const;
  int FindOutput(std::string_view output) const;
};

}  // namespace opserve
