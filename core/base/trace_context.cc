#include "core/base/trace_context.h"

#include <algorithm>

namespace opserve {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";
// Of version 00: "VV-" and the ids and flags with dashes between them.
constexpr size_t kTraceIdAt = 3;
constexpr size_t kParentIdAt = 36;
constexpr size_t kFlagsAt = 53;
constexpr size_t kBytes = 55;
constexpr uint8_t kNoVersion = 0xff;

bool HasDashes(std::string_view text) {
  return text[kTraceIdAt - 1] == '-' && text[kParentIdAt - 1] == '-' && text[kFlagsAt - 1] == '-';
}

// False where there is anything but lower-case digits.
bool ReadHex(std::string_view digits, std::span<uint8_t> bytes) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    const size_t high = kDigits.find(digits[2 * i]);
    const size_t low = kDigits.find(digits[2 * i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return false;
    bytes[i] = static_cast<uint8_t>(16 * high + low);
  }
  return true;
}

bool IsZero(std::span<const uint8_t> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte == 0; });
}

}  // namespace

std::optional<TraceContext> ParseTraceParent(std::string_view text) {
  if (text.size() < kBytes || text.size() > kMaxTraceParentBytes || !HasDashes(text))
    return std::nullopt;
  TraceContext context;
  uint8_t version = 0;
  if (!ReadHex(text, {&version, 1}) || version == kNoVersion) return std::nullopt;
  if (text.size() > kBytes && (version == 0 || text[kBytes] != '-')) return std::nullopt;
  if (!ReadHex(text.substr(kTraceIdAt), context.trace_id) ||
      !ReadHex(text.substr(kParentIdAt), context.parent_id) ||
      !ReadHex(text.substr(kFlagsAt), {&context.flags, 1})) {
    return std::nullopt;
  }
  if (IsZero(context.trace_id) || IsZero(context.parent_id)) return std::nullopt;
  return context;
}

std::string FormatTraceParent(const TraceContext& context) {
  std::string text = "00-";
  text.append(HexOf(context.trace_id)).append("-").append(HexOf(context.parent_id));
  return text.append("-").append(HexOf({&context.flags, 1}));
}

std::string HexOf(std::span<const uint8_t> bytes) {
  std::string digits;
  digits.reserve(2 * bytes.size());
  for (const uint8_t byte : bytes) {
    digits.push_back(kDigits[byte / 16]);
    digits.push_back(kDigits[byte % 16]);
  }
  return digits;
}

}  // namespace opserve
