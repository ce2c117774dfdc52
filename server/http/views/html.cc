#include "server/http/views/html.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace opserve::server {
namespace {

constexpr std::string_view kReplacement = "\uFFFD";

struct Character {
  uint32_t code = 0;
  size_t bytes = 0;  // 0: what begins there is no UTF-8
};

Character ReadCharacter(std::string_view text) {
  const auto first = static_cast<uint8_t>(text[0]);
  if (first < 0x80) return {first, 1};
  // The least code of each length: a shorter form of it would be another way to write it.
  constexpr std::array<uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc0 || first > 0xf7 || text.size() < bytes) return {};
  uint32_t code = first & (0x7fU >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<uint8_t>(text[i]);
    if ((next & 0xc0) != 0x80) return {};
    code = code << 6 | (next & 0x3f);
  }
  const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kLeast[bytes] || code > 0x10ffff || is_surrogate) return {};
  return {code, bytes};
}

bool IsShown(uint32_t code) {
  const bool is_control = (code < 0x20 && code != '\n' && code != '\t') ||
                          (code >= 0x7f && code < 0xa0) || code == 0xfeff;
  const bool turns_writing = code == 0x061c || (code >= 0x200b && code <= 0x200f) ||
                             (code >= 0x2028 && code <= 0x202e) ||
                             (code >= 0x2060 && code <= 0x206f);
  return !is_control && !turns_writing;
}

std::string_view Escape(char character) {
  switch (character) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

}  // namespace

std::string HtmlText(std::string_view text) {
  std::string html;
  html.reserve(text.size());
  while (!text.empty()) {
    const Character next = ReadCharacter(text);
    const size_t bytes = next.bytes > 0 ? next.bytes : 1;
    const std::string_view escaped = Escape(text[0]);
    if (next.bytes == 0 || !IsShown(next.code)) {
      html.append(kReplacement);
    } else {
      html.append(escaped.empty() ? text.substr(0, bytes) : escaped);
    }
    text.remove_prefix(bytes);
  }
  return html;
}

}  // namespace opserve::server
