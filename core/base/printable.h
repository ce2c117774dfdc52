// Which bytes of a text from outside can be shown on a terminal as they are.
#pragma once

#include <cstddef>
#include <string_view>

namespace opserve {

// How many bytes at `at` are one character that shows itself and does nothing else: well-formed
// UTF-8, and neither a control character, a line separator nor one that turns the direction of
// writing. 0 where there is none. `at` must be inside.
size_t PrintableAt(std::string_view text, size_t at);

}  // namespace opserve
