#include "core/base/printable.h"

#include <array>
#include <cstdint>

namespace opserve {
namespace {

// By the number of bytes: what the first has besides bits of the character, and the least
// character that needs so many.
struct Form {
  uint8_t mask;
  uint8_t mark;
  uint32_t least;
};
constexpr std::array<Form, 4> kForms = {
    {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}}};

constexpr uint32_t kLastCharacter = 0x10ffff;

struct Range {
  uint32_t first;
  uint32_t last;
};
// Controls, marks of direction, separators of lines, surrogates, the mark of byte order.
constexpr std::array<Range, 8> kHidden = {{{0x00, 0x1f},
                                           {0x7f, 0x9f},
                                           {0x61c, 0x61c},
                                           {0x200e, 0x200f},
                                           {0x2028, 0x202e},
                                           {0x2066, 0x2069},
                                           {0xd800, 0xdfff},
                                           {0xfeff, 0xfeff}}};

bool IsHidden(uint32_t character) {
  for (const Range& range : kHidden) {
    if (character >= range.first && character <= range.last) return true;
  }
  return false;
}

}  // namespace

size_t PrintableAt(std::string_view text, size_t at) {
  const auto first = static_cast<uint8_t>(text[at]);
  for (size_t i = 0; i < kForms.size(); ++i) {
    if ((first & kForms[i].mask) != kForms[i].mark) continue;
    const size_t bytes = i + 1;
    if (at + bytes > text.size()) return 0;
    uint32_t character = first & ~static_cast<uint32_t>(kForms[i].mask);
    for (size_t k = 1; k < bytes; ++k) {
      const auto next = static_cast<uint8_t>(text[at + k]);
      if ((next & 0xc0) != 0x80) return 0;
      character = character << 6 | (next & 0x3fU);
    }
    const bool is_shown =
        character >= kForms[i].least && character <= kLastCharacter && !IsHidden(character);
    return is_shown ? bytes : 0;
  }
  return 0;
}

}  // namespace opserve
