// Writes a part of the aclnn interface while the rest is built: header X SNAKE_CASE_NAME, functions
// or calls; to FILE.
#include <cstdio>
#include <fstream>
#include <string_view>

#include "core/aclnn/c_function.h"
#include "core/op/op_table.h"

namespace opserve::aclnn {
namespace {

absl::StatusOr<std::string> Part(std::span<char* const> arguments) {
  const std::string_view part = arguments[0];
  if (part == "functions") return PhaseOneFunctions(AllOperators());
  if (part == "calls") return PhaseOneCalls(AllOperators());
  const absl::StatusOr<const Operator*> op = FindOperator(arguments[1]);
  if (!op.ok()) return op.status();
  return Header(**op, arguments[2]);
}

int Main(std::span<char* const> arguments) {
  if (arguments.size() != 3 && arguments.size() != 5) {
    std::fputs("Usage: write_aclnn functions|calls|header X x FILE\n", stderr);
    return 2;
  }
  const absl::StatusOr<std::string> text = Part(arguments.subspan(1));
  if (!text.ok()) {
    std::fprintf(stderr, "%s\n", text.status().ToString().c_str());
    return 1;
  }
  std::ofstream file(arguments.back());
  file << *text;
  file.close();
  return file ? 0 : 1;
}

}  // namespace
}  // namespace opserve::aclnn

int main(int argc, char** argv) { return opserve::aclnn::Main({argv, static_cast<size_t>(argc)}); }
