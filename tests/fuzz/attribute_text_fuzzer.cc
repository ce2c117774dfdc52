// Attribute values as people type them.
//
// Input: the kind as a digit, then the text.
#include "client/cli/output/attribute_text.h"
#include "tests/fuzz/fuzz_input.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using opserve::client::AttributeKind;
  using opserve::client::AttributeValue;
  namespace fuzz = opserve::fuzz;
  fuzz::Input input(data, size);
  const auto kind = static_cast<AttributeKind>(input.TakeByte() % 7);
  const std::string text(input.rest());
  const absl::StatusOr<AttributeValue> value = opserve::cli::ParseAttribute("a", kind, text);
  if (!value.ok()) {
    fuzz::RequireDetail(value.status());
    return 0;
  }
  // A value that was written reads back to what is written alike: a whole float may become an int
  // where both are welcome, but not another number.
  const std::string written = opserve::cli::AttributeText(*value);
  const absl::StatusOr<AttributeValue> again = opserve::cli::ParseAttribute("a", kind, written);
  fuzz::Require(again.ok(), "a written value reads");
  fuzz::Require(opserve::cli::AttributeText(*again) == written, "a written value stays");
  const bool either = kind == AttributeKind::kScalar || kind == AttributeKind::kUnknown;
  fuzz::Require(either || again->index() == value->index(), "a written value keeps its type");
  return 0;
}
