// Text that a server sent, made fit for people to read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace opserve::client {

enum class LineBreaks : uint8_t { kEscaped, kKept };

// `text` with what a terminal would act on, rather than show, written as "\x1b": control characters
// of either set, marks that turn the direction of writing, and bytes that are no UTF-8.
std::string PrintableText(std::string_view text, LineBreaks line_breaks = LineBreaks::kEscaped);

// `text`, or its beginning with "…" behind it: at most `max_bytes`, which are 3 at least.
std::string ShortText(std::string_view text, size_t max_bytes);

}  // namespace opserve::client
