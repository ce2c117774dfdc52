// W3C Trace Context: which trace a call belongs to, as its caller said it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace opserve {

// What a `traceparent` says. A value.
struct TraceContext {
  std::array<uint8_t, 16> trace_id = {};  // never all zero
  std::array<uint8_t, 8> parent_id = {};  // the caller's span; likewise
  uint8_t flags = 0;

  // Whether the caller records the trace.
  bool is_sampled() const { return (flags & 1) != 0; }

  friend bool operator==(const TraceContext&, const TraceContext&) = default;
};

// Of "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", or of a later version, which may
// have more behind it; nullopt for anything else. Takes no more than `kMaxTraceParentBytes`.
inline constexpr size_t kMaxTraceParentBytes = 256;
std::optional<TraceContext> ParseTraceParent(std::string_view text);

// As version 00.
std::string FormatTraceParent(const TraceContext& context);

// Two lower-case digits a byte, as trace and span ids are written.
std::string HexOf(std::span<const uint8_t> bytes);

}  // namespace opserve
