// One line an event, to stderr: `time=2026-01-31T12:00:00.000Z level=info msg=listening
// address=localhost:8500`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace opserve::server {

enum class LogLevel : uint8_t { kDebug, kInfo, kWarning, kError };

// "debug", "info", "warning", "error".
std::string_view LogLevelName(LogLevel level);
std::optional<LogLevel> ParseLogLevel(std::string_view name);

struct LogField {
  std::string_view key;  // letters, digits and '_'
  std::string value;     // any bytes
};

// The line, with its newline. Values with blanks, quotes, '=' or control characters (and empty
// ones) are quoted and escaped, so that no value can break the line or forge a field.
std::string FormatLogLine(absl::Time time, LogLevel level, std::string_view message,
                          std::span<const LogField> fields);

// Lines below it are dropped; at first kInfo. Any thread.
void SetLogLevel(LogLevel level);
bool LogEnabled(LogLevel level);

// Writes one line in one write. Any thread.
void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {});

}  // namespace opserve::server
