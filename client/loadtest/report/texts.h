// A report for people and for programs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/loadtest/report/run_report.h"

namespace opserve::loadtest {

// "853ns", "12.3us", "4.56ms", "1.23s": three digits.
std::string ShortTime(absl::Duration time);
// "853", "12.3k", "4.56M".
std::string ShortCount(double count);

// A line about a window, for a terminal.
std::string ProgressLine(const std::string& level, const Window& window);

// A table, a line for each level, with what is to be said of them below it.
std::string ReportTable(const RunReport& report);
// A header and a line for each level. Times are in microseconds.
std::string ReportCsv(const RunReport& report);

// One JSON object, without a newline. Times are in microseconds where a name ends in _us, in
// seconds otherwise. docs/load_testing.md names the members.
std::string ReportJson(const RunReport& report);

// Whether `text` is what ReportJson writes, as far as the page needs it: INVALID_ARGUMENT, naming
// `path`, otherwise. Returns it without what could end a script in HTML.
absl::StatusOr<std::string> CheckedReportJson(const std::string& path, std::string_view text);

// One page, which needs nothing else, of one run or several, each as CheckedReportJson returns it.
std::string ReportPage(const std::vector<std::string>& runs);

}  // namespace opserve::loadtest
