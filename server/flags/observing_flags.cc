#include "server/flags/observing_flags.h"

#include <optional>
#include <string>

#include "core/base/op_error.h"
#include "core/base/strings.h"

namespace opserve::server {

void AddObservingFlags(FlagSet& flags, ServerConfig& config) {
  flags.SetGroup("Observing");
  flags.AddEnablingSwitch(
      "--channelz", config.channelz,
      "Serve gRPC's channelz: every connection with its peer and calls. Allowed only if every\n"
      "--listen address is a loopback address or a unix socket.");
  flags.Add("--load-reports", "WHEN", std::string(LoadReportPolicyName(config.load_reports)),
            "Report the load to balancers in the trailing metadata of answers (ORCA's\n"
            "endpoint-load-metrics-bin, about 140 bytes): off, asked (for calls with the metadata\n"
            "opserve-load-report), always.",
            [&policy = config.load_reports](const std::string& text) {
              const std::optional<LoadReportPolicy> parsed = ParseLoadReportPolicy(text);
              policy = parsed.value_or(policy);
              return parsed.has_value()
                         ? absl::OkStatus()
                         : InvalidParameter("--load-reports", "off, asked or always", Quoted(text));
            });
}

void AddLogFlags(FlagSet& flags, ServerConfig& config) {
  flags.SetGroup("Logging");
  flags.Add(
      "--log-level", "LEVEL", std::string(LogLevelName(config.log_level)),
      "debug, info, warning or error. debug: a line for every call. info: a line for calls that\n"
      "failed by the client's fault. error: those that failed by the server's fault. The number\n"
      "of such lines per second is limited.",
      [&level = config.log_level](const std::string& text) {
        const std::optional<LogLevel> parsed = ParseLogLevel(text);
        level = parsed.value_or(level);
        return parsed.has_value()
                   ? absl::OkStatus()
                   : InvalidParameter("--log-level", "debug, info, warning or error", Quoted(text));
      });
  flags.Add("--log-format", "FORMAT", std::string(LogFormatName(config.log_format)),
            "text: key=value; json: one object per line.",
            [&format = config.log_format](const std::string& text) {
              const std::optional<LogFormat> parsed = ParseLogFormat(text);
              format = parsed.value_or(format);
              return parsed.has_value()
                         ? absl::OkStatus()
                         : InvalidParameter("--log-format", "text or json", Quoted(text));
            });
}

}  // namespace opserve::server
