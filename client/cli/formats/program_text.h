// Programs as people write them (docs/programs.md): a step a line, or JSON.
//
//   # one layer
//   h = Addmm(self=b, mat1=x, mat2=w)
//   loss = MseLoss(self=h, target=t, reduction=mean)
//   gradient loss: w, b
//   return loss, hidden=h
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/tensor/shape.h"

namespace opserve::cli {

// What stands there; what names mean the operators' schemas say.
struct ProgramText {
  struct Argument {
    std::string name;
    std::string text;
  };
  struct Step {
    std::string name;
    std::string op;
    std::vector<Argument> arguments;
  };
  struct Gradient {
    std::string of;
    std::vector<std::string> with_respect_to;
    std::string seed;
    int64_t max_workspace_bytes = 0;  // 0: no bound
  };

  std::vector<Step> steps;
  std::vector<Argument> outputs;
  std::vector<Gradient> gradient;  // none or one
};

// Text that begins with '{' is JSON. Errors (161002) name the line, or the member.
absl::StatusOr<ProgramText> ParseProgram(std::string_view text);
// "loss: w, b", "y: w, b seed s" or "y: w, b seed s within 65536", the most bytes of workspace.
absl::StatusOr<ProgramText::Gradient> ParseGradient(std::string_view text);

// What a step takes: a value of the program, as it is or as a view.
//
//   x   conv.mean   p[2,-1]   w[4,3].strides(1,4).offset(2)   h[] (a scalar)
struct ProgramValue {
  std::string name;
  bool has_shape = false;
  Dims shape;
  Dims strides;  // empty: dense
  bool has_strides = false;
  int64_t storage_offset = 0;
};
// Whether `text` is meant as a constant: a number, or a literal whose first word is a dtype.
bool LooksLikeConstant(std::string_view text);
// Errors (161002) without a parameter.
absl::StatusOr<ProgramValue> ParseValue(std::string_view text);

}  // namespace opserve::cli
