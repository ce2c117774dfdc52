// A call's traceparent.
//
// Input: the text.
#include "core/base/trace_context.h"

#include "tests/fuzz/fuzz_input.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = opserve::fuzz;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::optional<opserve::TraceContext> context = opserve::ParseTraceParent(text);
  if (!context.has_value()) return 0;
  fuzz::Require(size <= opserve::kMaxTraceParentBytes, "a long one is none");
  const std::string written = opserve::FormatTraceParent(*context);
  fuzz::Require(text.substr(2, 53) == std::string_view(written).substr(2), "it is written as read");
  fuzz::Require(opserve::ParseTraceParent(written) == context, "and read as written");
  return 0;
}
