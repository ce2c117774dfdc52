// Which operator computes the gradient of another, and from what: enough to call it knowing nothing
// but the two schemas.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/op/attribute.h"

namespace opserve {

// What an input of the gradient's operator is, of the forward operator.
struct GradientInput {
  enum class Source : uint8_t {
    kInput,           // its input, which need not have been given where this one is optional
    kOutput,          // its output, kept from the call; one that may be left out was not
    kOutputGradient,  // the gradient that comes in for its output
  };

  std::string_view name;  // of the gradient's operator
  Source source;
  std::string_view origin;  // name of the forward's input or output
};

// An output of the gradient's operator is the gradient of this input of the forward. It may have
// the shape to which the forward broadcast its inputs; summed to the input's, it is the gradient.
struct GradientOutput {
  std::string_view name;
  std::string_view input;
};

// An attribute of the gradient's operator that is another one of the forward's, or the same in
// every call.
struct GradientAttribute {
  std::string_view name;
  std::string_view origin;  // name of the forward's attribute; empty: `value`
  AttributeDefault value = {};
};

// Other attributes that both operators have under one name are the same in both calls; what is left
// then has its default. An output of the forward whose gradient is no input has none: it is not
// differentiable. An optional input that is not among `inputs` is left out.
struct Gradient {
  std::string_view op;  // empty: there is none
  std::span<const GradientInput> inputs;
  std::span<const GradientOutput> outputs;
  // The attribute of `op`, a list of bools, that says which of its outputs are wanted; empty: all
  // are computed.
  std::string_view output_mask = {};
  std::span<const GradientAttribute> attributes = {};
};

}  // namespace opserve
