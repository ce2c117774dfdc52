// Programs as people write them, in lines and as JSON, and the values in them.
//
// Input: the text.
#include "client/cli/formats/program_text.h"
#include "tests/fuzz/fuzz_input.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace opserve;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<cli::ProgramText> program = cli::ParseProgram(text);
  if (!program.ok()) {
    fuzz::RequireDetail(program.status());
    return 0;
  }
  for (const cli::ProgramText::Step& step : program->steps) {
    for (const cli::ProgramText::Argument& argument : step.arguments) {
      if (cli::LooksLikeConstant(argument.text)) continue;
      const absl::StatusOr<cli::ProgramValue> value = cli::ParseValue(argument.text);
      if (!value.ok()) fuzz::RequireDetail(value.status());
    }
  }
  return 0;
}
