// One line an event, to stderr: `time=2026-01-31T12:00:00.000Z level=info msg=listening
// address=localhost:8500`, or the same as a JSON object.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/mutex.h"

namespace opserve::server {

enum class LogLevel : uint8_t { kDebug, kInfo, kWarning, kError };

// "debug", "info", "warning", "error".
std::string_view LogLevelName(LogLevel level);
std::optional<LogLevel> ParseLogLevel(std::string_view name);

enum class LogFormat : uint8_t { kText, kJson };

// "text", "json".
std::string_view LogFormatName(LogFormat format);
std::optional<LogFormat> ParseLogFormat(std::string_view name);

struct LogField {
  enum class Kind : uint8_t { kText, kNumber };

  std::string_view key;     // letters, digits and '_'
  std::string value;        // any bytes; of a number its digits
  Kind kind = Kind::kText;  // JSON writes numbers without quotes
};

LogField LogNumber(std::string_view key, int64_t number);

// The line, with its newline, so that no value can break it, forge a field or steer a terminal.
// Text: values with blanks, quotes, '=' or what cannot be printed (and empty ones) are quoted and
// escaped. JSON: one object; bytes that are no UTF-8 become U+FFFD, and what is not ASCII is
// escaped.
std::string FormatLogLine(absl::Time time, LogLevel level, std::string_view message,
                          std::span<const LogField> fields, LogFormat format = LogFormat::kText);

// Lines below it are dropped; at first kInfo. Any thread.
void SetLogLevel(LogLevel level);
bool LogEnabled(LogLevel level);

// Of the lines from now on; at first kText. Any thread.
void SetLogFormat(LogFormat format);

// Writes one line in one write. Any thread.
void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {});
void Log(LogLevel level, std::string_view message, std::span<const LogField> fields);

// Lines that clients can cause: a few a second, the rest are counted. Thread-safe.
class LimitedLog {
 public:
  static constexpr int kLinesPerSecond = 5;

  explicit LimitedLog(const Clock& clock = Clock::Real(), int lines_per_second = kLinesPerSecond)
      : clock_(clock), lines_per_second_(lines_per_second) {}

  // As Log; a line behind some that were left out says how many (`left_out`). False when it is left
  // out itself.
  bool Write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {});
  // Whether a line may be written now, and how many were left out before it.
  std::optional<int64_t> Admit();

 private:
  const Clock& clock_;
  const int lines_per_second_;
  Mutex mutex_;
  absl::Time second_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  int lines_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t left_out_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace opserve::server
