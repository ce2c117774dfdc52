// Escapes text for HTML.
#pragma once

#include <string>
#include <string_view>

namespace opserve::server {

// `text` as the text of an element or the value of a quoted attribute: nothing in it is markup.
// What is no UTF-8, control characters and those that change the direction of writing become
// U+FFFD, so that no text can look like another.
std::string HtmlText(std::string_view text);

}  // namespace opserve::server
