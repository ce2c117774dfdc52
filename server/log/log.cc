#include "server/log/log.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "core/base/mutex.h"

namespace opserve::server {
namespace {

constexpr std::array<std::string_view, 4> kLevelNames = {"debug", "info", "warning", "error"};

std::atomic<LogLevel> lowest_level = LogLevel::kInfo;
Mutex stderr_mutex;

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

bool NeedsQuotes(std::string_view value) {
  return value.empty() || std::any_of(value.begin(), value.end(), [](char c) {
           return c == ' ' || c == '"' || c == '=' || c == '\\' || IsControl(c);
         });
}

void AppendEscaped(std::string& line, char c) {
  if (c == '"' || c == '\\') {
    line.append({'\\', c});
  } else if (c == '\n') {
    line.append("\\n");
  } else if (c == '\t') {
    line.append("\\t");
  } else if (IsControl(c)) {
    absl::StrAppendFormat(&line, "\\x%02x", static_cast<unsigned char>(c));
  } else {
    line.push_back(c);
  }
}

void AppendValue(std::string& line, std::string_view value) {
  if (!NeedsQuotes(value)) {
    line.append(value);
    return;
  }
  line.push_back('"');
  for (const char c : value) AppendEscaped(line, c);
  line.push_back('"');
}

void WriteLine(LogLevel level, std::string_view message, std::span<const LogField> fields) {
  const std::string line = FormatLogLine(absl::Now(), level, message, fields);
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

std::string FormatLogLine(absl::Time time, LogLevel level, std::string_view message,
                          std::span<const LogField> fields) {
  std::string line = absl::FormatTime("time=%Y-%m-%dT%H:%M:%E3SZ", time, absl::UTCTimeZone());
  line.append(" level=").append(LogLevelName(level)).append(" msg=");
  AppendValue(line, message);
  for (const LogField& field : fields) {
    line.append(" ").append(field.key).append("=");
    AppendValue(line, field.value);
  }
  line.push_back('\n');
  return line;
}

void SetLogLevel(LogLevel level) { lowest_level.store(level, std::memory_order_relaxed); }

bool LogEnabled(LogLevel level) { return level >= lowest_level.load(std::memory_order_relaxed); }

void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  if (LogEnabled(level)) WriteLine(level, message, {fields.begin(), fields.size()});
}

std::optional<int64_t> LimitedLog::Admit() {
  const absl::Time now = clock_.Now();
  const MutexLock lock(mutex_);
  if (now - second_ >= absl::Seconds(1)) {
    second_ = now;
    lines_ = 0;
  }
  if (lines_ == kLinesPerSecond) {
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
  if (*left_out > 0) all.push_back({"left_out", absl::StrCat(*left_out)});
  WriteLine(level, message, all);
  return true;
}

}  // namespace opserve::server
