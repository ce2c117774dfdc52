#include "server/log/log.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "core/base/mutex.h"
#include "core/base/printable.h"

namespace opserve::server {
namespace {

constexpr std::array<std::string_view, 4> kLevelNames = {"debug", "info", "warning", "error"};

constexpr std::array<std::string_view, 2> kFormatNames = {"text", "json"};

std::atomic<LogLevel> lowest_level = LogLevel::kInfo;
std::atomic<LogFormat> log_format = LogFormat::kText;
Mutex stderr_mutex;

bool NeedsQuotes(std::string_view value) {
  if (value.empty() || value.find_first_of(" \"=\\") != std::string_view::npos) return true;
  for (size_t at = 0; at < value.size();) {
    const size_t bytes = PrintableAt(value, at);
    if (bytes == 0) return true;
    at += bytes;
  }
  return false;
}

void AppendEscaped(std::string& line, char c) {
  if (c == '\n') {
    line.append("\\n");
  } else if (c == '\t') {
    line.append("\\t");
  } else {
    absl::StrAppendFormat(&line, "\\x%02x", static_cast<unsigned char>(c));
  }
}

void AppendQuoted(std::string& line, std::string_view value) {
  line.push_back('"');
  for (size_t at = 0; at < value.size();) {
    const size_t bytes = PrintableAt(value, at);
    if (bytes == 0) {
      AppendEscaped(line, value[at]);
    } else {
      if (value[at] == '"' || value[at] == '\\') line.push_back('\\');
      line.append(value.substr(at, bytes));
    }
    at += std::max<size_t>(bytes, 1);
  }
  line.push_back('"');
}

void AppendValue(std::string& line, std::string_view value) {
  if (NeedsQuotes(value)) {
    AppendQuoted(line, value);
  } else {
    line.append(value);
  }
}

std::string FormatText(std::string_view time, LogLevel level, std::string_view message,
                       std::span<const LogField> fields) {
  std::string line("time=");
  line.append(time).append(" level=").append(LogLevelName(level)).append(" msg=");
  AppendValue(line, message);
  for (const LogField& field : fields) {
    line.append(" ").append(field.key).append("=");
    AppendValue(line, field.value);
  }
  return line;
}

// Of any bytes; what is not ASCII is escaped.
std::string JsonString(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', /*ensure_ascii=*/true,
                                   nlohmann::json::error_handler_t::replace);
}

std::string FormatJson(std::string_view time, LogLevel level, std::string_view message,
                       std::span<const LogField> fields) {
  std::string line("{\"time\":");
  line.append(JsonString(time)).append(",\"level\":").append(JsonString(LogLevelName(level)));
  line.append(",\"msg\":").append(JsonString(message));
  for (const LogField& field : fields) {
    line.append(",").append(JsonString(field.key)).append(":");
    const bool is_number = field.kind == LogField::Kind::kNumber;
    line.append(is_number ? field.value : JsonString(field.value));
  }
  return line.append("}");
}

void WriteLine(LogLevel level, std::string_view message, std::span<const LogField> fields) {
  const std::string line = FormatLogLine(absl::Now(), level, message, fields,
                                         log_format.load(std::memory_order_relaxed));
  const MutexLock lock(stderr_mutex);
  // A log that cannot be written has nobody to tell.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace

std::string_view LogLevelName(LogLevel level) { return kLevelNames[static_cast<size_t>(level)]; }

std::optional<LogLevel> ParseLogLevel(std::string_view name) {
  const auto* found = std::find(kLevelNames.begin(), kLevelNames.end(), name);
  if (found == kLevelNames.end()) return std::nullopt;
  return static_cast<LogLevel>(found - kLevelNames.begin());
}

std::string_view LogFormatName(LogFormat format) {
  return kFormatNames[static_cast<size_t>(format)];
}

std::optional<LogFormat> ParseLogFormat(std::string_view name) {
  const auto* found = std::find(kFormatNames.begin(), kFormatNames.end(), name);
  if (found == kFormatNames.end()) return std::nullopt;
  return static_cast<LogFormat>(found - kFormatNames.begin());
}

LogField LogNumber(std::string_view key, int64_t number) {
  return {key, absl::StrCat(number), LogField::Kind::kNumber};
}

std::string FormatLogLine(absl::Time time, LogLevel level, std::string_view message,
                          std::span<const LogField> fields, LogFormat format) {
  const std::string utc = absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", time, absl::UTCTimeZone());
  std::string line = format == LogFormat::kJson ? FormatJson(utc, level, message, fields)
                                                : FormatText(utc, level, message, fields);
  line.push_back('\n');
  return line;
}

void SetLogLevel(LogLevel level) { lowest_level.store(level, std::memory_order_relaxed); }

bool LogEnabled(LogLevel level) { return level >= lowest_level.load(std::memory_order_relaxed); }

void SetLogFormat(LogFormat format) { log_format.store(format, std::memory_order_relaxed); }

void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  Log(level, message, std::span<const LogField>(fields.begin(), fields.size()));
}

void Log(LogLevel level, std::string_view message, std::span<const LogField> fields) {
  if (LogEnabled(level)) WriteLine(level, message, fields);
}

std::optional<int64_t> LimitedLog::Admit() {
  const absl::Time now = clock_.Now();
  const MutexLock lock(mutex_);
  if (now - second_ >= absl::Seconds(1)) {
    second_ = now;
    lines_ = 0;
  }
  if (lines_ == lines_per_second_) {
    ++left_out_;
    return std::nullopt;
  }
  ++lines_;
  return std::exchange(left_out_, 0);
}

bool LimitedLog::Write(LogLevel level, std::string_view message,
                       std::initializer_list<LogField> fields) {
  if (!LogEnabled(level)) return true;
  const std::optional<int64_t> left_out = Admit();
  if (!left_out.has_value()) return false;
  std::vector<LogField> all(fields);
  if (*left_out > 0) all.push_back(LogNumber("left_out", *left_out));
  WriteLine(level, message, all);
  return true;
}

}  // namespace opserve::server
