// `opserve stats`.
#include <unistd.h>

#include <string>

#include "absl/time/clock.h"
#include "client/cli/commands/commands.h"
#include "client/cli/files/files.h"
#include "client/cli/output/statistics_output.h"
#include "core/base/status_macros.h"

namespace opserve::cli {
namespace {

// To the top left corner, and nothing below it.
constexpr char kClearScreen[] = "\x1b[H\x1b[2J";

bool IsTerminal() { return ::isatty(STDOUT_FILENO) != 0; }

ShownMethods MethodsOf(const Arguments& arguments) {
  return arguments.all_methods ? ShownMethods::kAll : ShownMethods::kCalled;
}

std::string Shown(const Arguments& arguments, const client::Statistics& before,
                  const client::Statistics& now) {
  if (arguments.format == OutputFormat::kJson) return StatisticsJson(now, arguments.target);
  return RatesText(before, now, MethodsOf(arguments)) + (IsTerminal() ? "" : "\n");
}

}  // namespace

absl::Status Stats(const Arguments& arguments, const client::Client& client) {
  const client::CallOptions options{.timeout = arguments.timeout,
                                    .traceparent = arguments.traceparent};
  OPSERVE_ASSIGN_OR_RETURN(client::Statistics before, client.GetStatistics(options));
  if (arguments.watch == absl::ZeroDuration()) {
    return WriteOutput(arguments.format == OutputFormat::kJson
                           ? StatisticsJson(before, arguments.target)
                           : StatisticsText(before, MethodsOf(arguments)));
  }
  for (int64_t shown = 0; arguments.count == 0 || shown < arguments.count; ++shown) {
    absl::SleepFor(arguments.watch);
    OPSERVE_ASSIGN_OR_RETURN(client::Statistics now, client.GetStatistics(options));
    if (arguments.format == OutputFormat::kText && IsTerminal())
      OPSERVE_RETURN_IF_ERROR(WriteFile("-", kClearScreen, {}));
    OPSERVE_RETURN_IF_ERROR(WriteOutput(Shown(arguments, before, now)));
    before = std::move(now);
  }
  return absl::OkStatus();
}

}  // namespace opserve::cli
