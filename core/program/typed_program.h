// A program with the shapes of one call: every step planned, the gradients that were asked for
// derived as steps.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "core/op/op_call.h"
#include "core/program/program.h"

namespace opserve {

struct TypedProgram {
  // An input, a constant, or an output of a step; those of steps are dense.
  struct Value {
    std::string name;  // "x", "conv.out"
    TensorDesc desc;
    int input = -1;                        // index of an input
    std::vector<std::byte> constant = {};  // the storage of a constant
    bool is_made = true;                   // false: of a step that masks it out
  };
  struct Step {
    std::string name;
    OpCall call;                          // planned
    absl::InlinedVector<int, 4> sources;  // the value behind each input in schema order, or -1
    int first_value = 0;                  // its outputs are this and the following values

    int value_of(size_t output) const { return first_value + static_cast<int>(output); }
  };

  std::vector<Value> values;
  std::vector<Step> steps;   // those that an output needs, in order
  std::vector<int> outputs;  // the value of each output of the program; each is a step's, and no
                             // two are one
};

// For a call of `program` whose inputs are described. `segments`: as AddGradients has them. Errors
// (161002) name the step and the parameter, or the output: what the steps' inference says, a view
// that does not fit its value, a gradient that does not exist.
absl::StatusOr<TypedProgram> TypeProgram(const Program& program, const OpCall& call,
                                         size_t segments);

}  // namespace opserve
