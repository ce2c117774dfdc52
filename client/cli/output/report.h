// How failures are told: one line on stderr, or JSON, and an exit code.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace opserve::cli {

// Documented in --help.
enum class ExitCode : int { kOk = 0, kFailed = 1, kUsage = 2, kUnreachable = 3 };

// `status` marked as a mistake on the command line, found before a call was made.
absl::Status UsageError(absl::Status status);
absl::Status UsageError(std::string_view message);

// `status`, of a call in this trace.
absl::Status InTrace(absl::Status status, std::string_view trace_id);
// Empty where there is none.
std::string TraceIdOf(const absl::Status& status);

// kUsage for marked statuses, kUnreachable for UNAVAILABLE and DEADLINE_EXCEEDED, kFailed for other
// errors.
ExitCode ExitCodeOf(const absl::Status& status);

// "opserve: SmoothL1LossBackward: beta: want >= 0, got -1 (161002, INVALID_ARGUMENT)", with ",
// trace 4bf92f35…" before the last parenthesis where it is in a trace: one line, without a newline,
// of a few kilobytes at most; control characters from outside are escaped.
std::string ErrorLine(const absl::Status& status);

}  // namespace opserve::cli
