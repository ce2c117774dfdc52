#include "client/cli/formats/number_text.h"

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <string>

#include "absl/strings/ascii.h"
#include "core/base/strings.h"

namespace opserve::cli {
namespace {

constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();

struct Signed {
  bool negative = false;
  std::string_view magnitude;
};

Signed SplitSign(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  return {negative, text};
}

std::optional<uint64_t> ParseMagnitude(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  }
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The integer that `text` is, as int64 where that holds it, as uint64 above.
std::optional<Number> ParseInteger(std::string_view text) {
  const Signed parts = SplitSign(text);
  const std::optional<uint64_t> magnitude = ParseMagnitude(parts.magnitude);
  if (!magnitude.has_value()) return std::nullopt;
  if (parts.negative) {
    if (*magnitude > kMax + 1) return std::nullopt;
    return Number(static_cast<int64_t>(0 - *magnitude));
  }
  if (*magnitude > kMax) return Number(*magnitude);
  return Number(static_cast<int64_t>(*magnitude));
}

// strtod also takes blanks in front, "nan(…)" and a locale's decimal point; the first two are
// refused here, and nobody sets a locale.
bool LooksLikeFloat(std::string_view magnitude) {
  if (magnitude == "nan" || magnitude == "inf" || magnitude == "infinity") return true;
  if (magnitude.empty()) return false;
  const char first = magnitude[0];
  if (!absl::ascii_isdigit(static_cast<unsigned char>(first)) && first != '.') return false;
  return magnitude.find_first_not_of("0123456789abcdefpx.+-") == std::string_view::npos;
}

std::optional<Number> ParseFloat(const std::string& text, DType dtype) {
  char* end = nullptr;
  const double value = dtype == DType::kFloat32
                           ? static_cast<double>(std::strtof(text.c_str(), &end))
                           : std::strtod(text.c_str(), &end);
  if (end != text.c_str() + text.size()) return std::nullopt;
  return Number(value);
}

}  // namespace

std::string_view Trim(std::string_view text) {
  return ToStd(absl::StripAsciiWhitespace(ToAbsl(text)));
}

std::optional<int64_t> ParseInt64(std::string_view text) {
  const std::optional<Number> number = ParseInteger(Trim(text));
  if (!number.has_value() || !std::holds_alternative<int64_t>(*number)) return std::nullopt;
  return std::get<int64_t>(*number);
}

std::optional<Number> ParseNumber(std::string_view text, DType dtype) {
  const std::string lower = absl::AsciiStrToLower(ToAbsl(Trim(text)));
  if (lower == "true") return Number(true);
  if (lower == "false") return Number(false);
  const Signed parts = SplitSign(lower);
  const bool negative_zero =
      parts.negative && parts.magnitude.find_first_not_of('0') == std::string_view::npos;
  if (!(negative_zero && IsFloating(dtype))) {
    if (const std::optional<Number> integer = ParseInteger(lower); integer.has_value())
      return integer;
  }
  if (!LooksLikeFloat(parts.magnitude)) return std::nullopt;
  return ParseFloat(lower, dtype);
}

}  // namespace opserve::cli
