#include "client/cpp/values/printable_text.h"

#include <algorithm>

#include "core/base/printable.h"

namespace opserve::client {
namespace {

constexpr std::string_view kEllipsis = "…";

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

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
    const size_t shown = PrintableAt(text, 0);
    const std::string_view bytes = text.substr(0, std::max<size_t>(1, shown));
    const bool is_kept = line_breaks == LineBreaks::kKept && bytes == "\n";
    if (shown == 0 && !is_kept) {
      AppendEscaped(bytes, out);
    } else {
      out.append(bytes);
    }
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
