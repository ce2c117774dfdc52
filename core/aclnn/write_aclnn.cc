// Writes a part of the aclnn interface to FILE while the rest is built: the functions, the calls,
// or the header NAME of some operators.
#include <cstdio>
#include <fstream>
#include <string_view>
#include <vector>

#include "core/aclnn/c_function.h"
#include "core/base/status_macros.h"
#include "core/op/op_table.h"

namespace opserve::aclnn {
namespace {

absl::StatusOr<std::string> Part(std::span<char* const> arguments) {
  const std::string_view part = arguments[0];
  if (part == "functions") return PhaseOneFunctions(AllOperators());
  if (part == "calls") return PhaseOneCalls(AllOperators());
  std::vector<const Operator*> ops;
  for (const char* name : arguments.subspan(2)) {
    OPSERVE_ASSIGN_OR_RETURN(const Operator* op, FindOperator(name));
    ops.push_back(op);
  }
  return Header(ops, arguments[1]);
}

int Main(std::span<char* const> arguments) {
  if (arguments.size() < 3) {
    std::fputs("Usage: write_aclnn FILE functions|calls|header NAME X...\n", stderr);
    return 2;
  }
  const absl::StatusOr<std::string> text = Part(arguments.subspan(2));
  if (!text.ok()) {
    std::fprintf(stderr, "%s\n", text.status().ToString().c_str());
    return 1;
  }
  std::ofstream file(arguments[1]);
  file << *text;
  file.close();
  return file ? 0 : 1;
}

}  // namespace
}  // namespace opserve::aclnn

int main(int argc, char** argv) { return opserve::aclnn::Main({argv, static_cast<size_t>(argc)}); }
