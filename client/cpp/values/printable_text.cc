#include "client/cpp/values/printable_text.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace opserve::client {
namespace {

constexpr std::string_view kEllipsis = "…";

struct CodeRange {
  uint32_t first;
  uint32_t last;
};

// Controls, line separators, and what turns the direction of writing.
constexpr std::array<CodeRange, 7> kActedOn = {{{0x00, 0x1f},
                                                {0x7f, 0x9f},
                                                {0x061c, 0x061c},
                                                {0x200e, 0x200f},
                                                {0x2028, 0x202e},
                                                {0x2066, 0x2069},
                                                {0xfeff, 0xfeff}}};

struct Character {
  uint32_t code = 0;
  size_t bytes = 0;  // 0: no UTF-8
};

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// The first character of `text`, which is not empty.
Character FirstCharacter(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1};
  // By length: the smallest code that needs it.
  constexpr std::array<uint32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc0 || lead >= 0xf8 || text.size() < bytes) return {};
  uint32_t code = lead & (0x7fU >> bytes);
  for (const char c : text.substr(1, bytes - 1)) {
    if (!IsContinuation(c)) return {};
    code = code << 6 | (static_cast<unsigned char>(c) & 0x3fU);
  }
  const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kSmallest[bytes] || code > 0x10ffff || is_surrogate) return {};
  return {code, bytes};
}

// How many characters `text` begins with that are shown by any terminal.
size_t PlainAscii(std::string_view text) {
  const auto end =
      std::find_if(text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; });
  return static_cast<size_t>(end - text.begin());
}

void AppendEscaped(std::string_view bytes, std::string& out) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out.append("\\x").push_back(kDigits[byte >> 4]);
    out.push_back(kDigits[byte & 15]);
  }
}

}  // namespace

std::string PrintableText(std::string_view text, LineBreaks line_breaks) {
  std::string out;
  out.reserve(text.size());
  while (true) {
    const size_t plain = PlainAscii(text);
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) return out;
    const Character character = FirstCharacter(text);
    const std::string_view bytes = text.substr(0, std::max<size_t>(1, character.bytes));
    const auto holds = [&](CodeRange range) {
      return character.code >= range.first && character.code <= range.last;
    };
    const bool is_kept = line_breaks == LineBreaks::kKept && bytes == "\n";
    if (!is_kept && (character.bytes == 0 || std::any_of(kActedOn.begin(), kActedOn.end(), holds)))
      AppendEscaped(bytes, out);
    else
      out.append(bytes);
    text.remove_prefix(bytes.size());
  }
}

std::string ShortText(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  size_t end = max_bytes - kEllipsis.size();
  while (end > 0 && IsContinuation(text[end])) --end;
  return std::string(text.substr(0, end)).append(kEllipsis);
}

}  // namespace opserve::client
