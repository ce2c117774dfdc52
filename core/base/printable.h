// Which bytes of a text from outside can be shown on a terminal as they are.
#pragma once

#include <cstddef>
#include <string_view>

namespace opserve {

// The number of bytes of the character at `at`, if a terminal only displays it: well-formed UTF-8,
// and neither a control character, a line separator, nor one that changes the direction of writing.
// 0 for anything else. `at` must be inside `text`.
size_t PrintableAt(std::string_view text, size_t at);

}  // namespace opserve
