#include "client/cli/commands/commands.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/commands/completion.h"
#include "client/cli/commands/connecting.h"
#include "client/cli/files/files.h"
#include "client/cli/output/json_output.h"
#include "client/cli/output/operator_page.h"
#include "client/cli/output/report.h"
#include "core/base/clock.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"
#include "core/base/trace_context.h"

namespace opserve::cli {
namespace {

// Those that have `text` in their name, family or summary, in upper or lower case.
absl::Status KeepMatches(const std::string& text, std::vector<client::OperatorSchema>& schemas) {
  const std::string wanted = absl::AsciiStrToLower(text);
  std::erase_if(schemas, [&](const client::OperatorSchema& schema) {
    const std::string words = absl::StrCat(schema.name, "\n", schema.family, "\n", schema.summary);
    return !absl::StrContains(absl::AsciiStrToLower(words), wanted);
  });
  if (!schemas.empty()) return absl::OkStatus();
  return absl::NotFoundError(
      absl::StrCat("no operator has \"", text, "\" in its name, family or summary"));
}

absl::Status ListOperators(const Arguments& arguments, const Remote& remote) {
  std::vector<std::string> names;
  if (!arguments.op.empty()) names.push_back(arguments.op);
  OPSERVE_ASSIGN_OR_RETURN(std::vector<client::OperatorSchema> schemas,
                           remote.client().ListOperators(names, remote.options()));
  OPSERVE_RETURN_IF_ERROR(KeepMatches(arguments.search, schemas));
  if (arguments.format == OutputFormat::kJson) return WriteOutput(OperatorsJson(schemas));
  if (names.empty()) return WriteOutput(OperatorList(schemas));
  std::string pages;
  for (const client::OperatorSchema& schema : schemas) pages.append(OperatorPage(schema));
  return WriteOutput(pages);
}

std::string DeviceText(const client::Device& device) {
  return absl::StrCat(
      device.name, "\n  profile    ", device.profile, "\n  hardware   ", device.description,
      "\n  memory     ", device.memory.used_bytes, " bytes used, ", device.memory.cached_bytes,
      " cached, of ", device.memory.limit_bytes, "\n  operators  ",
      absl::StrJoin(device.operators, ", "), "\n", device.lost.empty() ? "" : "  lost       ",
      device.lost, device.lost.empty() ? "" : "\n");
}

absl::Status ListDevices(const Arguments& arguments, const Remote& remote) {
  OPSERVE_ASSIGN_OR_RETURN(const std::vector<client::Device> devices,
                           remote.client().ListDevices(remote.options()));
  if (arguments.format == OutputFormat::kJson) return WriteOutput(DevicesJson(devices));
  std::string text;
  for (const client::Device& device : devices) text.append(DeviceText(device));
  return WriteOutput(text);
}

absl::Status ShowInfo(const Arguments& arguments, const Remote& remote) {
  OPSERVE_ASSIGN_OR_RETURN(const client::ServerInfo info,
                           remote.client().GetServerInfo(remote.options()));
  if (arguments.format == OutputFormat::kJson)
    return WriteOutput(ServerInfoJson(info, arguments.target));
  return WriteOutput(absl::StrCat(
      "target             ", arguments.target, "\nversion            ", info.version,
      "\nmax message        ", info.max_message_bytes, " bytes\nmemory limit       ",
      info.memory_limit_bytes, " bytes\nrecommended chunk  ", info.recommended_chunk_bytes,
      " bytes\nmax rank           ", info.max_rank, "\nmax calls a batch  ", info.max_batch_calls,
      "\nmax raw entries    ", info.max_raw_entries, "\nfeatures           ",
      info.features.empty() ? "none that others lack" : absl::StrJoin(info.features, ", "), "\n"));
}

}  // namespace

Remote::Remote(client::Client client, absl::Duration timeout, std::string traceparent)
    : client_(std::move(client)),
      deadline_(Clock::Real().Now() + timeout),
      traceparent_(std::move(traceparent)) {}

client::CallOptions Remote::options() const {
  return {.timeout = deadline_ - Clock::Real().Now(), .traceparent = traceparent_};
}

namespace {

// A call has what is left of the command's time; what was given is what its user knows.
absl::Status InGivenTime(absl::Status status, absl::Duration timeout) {
  if (!absl::IsDeadlineExceeded(status) || GetErrorDetail(status).has_value()) return status;
  return absl::DeadlineExceededError(
      absl::StrCat("no answer within ", absl::FormatDuration(timeout), " (--timeout)"));
}

// What a client can do about a server that cannot be reached, by what the message says.
std::string_view NextStep(std::string_view message) {
  const auto says = [message](std::string_view part) {
    return message.find(part) != std::string_view::npos;
  };
  if (!says("failed to connect to all addresses")) return {};
  if (says("certificate is not trusted")) return "; give the CA that signed it with --cacert";
  if (says("certificate is for another name"))
    return "; give a name that it has with --server-name, or as the host of --target";
  if (says("does not speak TLS")) return "; leave out --tls and --cacert for a server without TLS";
  if (says("ended the handshake")) return "; --cert and --key have the certificate to show";
  // A server with TLS closes what does not begin with a handshake.
  if (says("Socket closed"))
    return "; a server is there that closes the connection: if it has TLS, give --tls or --cacert";
  return "; start opserve-server there, or name another server with --target";
}

absl::Status WithNextStep(const absl::Status& status) {
  if (!absl::IsUnavailable(status)) return status;
  const std::string_view step = NextStep(ToStd(status.message()));
  if (step.empty()) return status;
  return absl::UnavailableError(absl::StrCat(status.message(), std::string(step)));
}

absl::Status RunRemotely(const Arguments& arguments) {
  absl::StatusOr<client::ConnectOptions> options = ConnectOptionsOf(arguments);
  if (!options.ok()) return UsageError(options.status());
  absl::StatusOr<client::Client> client = client::Client::Connect(arguments.target, *options);
  if (!client.ok()) return UsageError(client.status());
  const Remote remote(*std::move(client), arguments.timeout, arguments.traceparent);
  switch (arguments.command) {
    case Command::kOps:
      return ListOperators(arguments, remote);
    case Command::kDevices:
      return ListDevices(arguments, remote);
    case Command::kInfo:
      return ShowInfo(arguments, remote);
    case Command::kPlan:
      return Plan(arguments, remote);
    case Command::kRun:
      return Run(arguments, remote);
    case Command::kShow:
      return Show(arguments, remote);
    case Command::kStats:
      return Stats(arguments, remote.client());
    case Command::kBench:
    case Command::kCompletion:
    case Command::kTutorial:
      break;
  }
  return absl::InternalError("unknown command");
}

}  // namespace

absl::Status RunCommand(const Arguments& arguments) {
  if (arguments.command == Command::kBench) return RunBench(arguments);
  if (arguments.command == Command::kCompletion)
    return WriteOutput(CompletionScript(arguments.shell));
  absl::Status status = WithNextStep(InGivenTime(RunRemotely(arguments), arguments.timeout));
  const std::optional<TraceContext> trace = ParseTraceParent(arguments.traceparent);
  if (status.ok() || !trace.has_value()) return status;
  return InTrace(std::move(status), HexOf(trace->trace_id));
}

}  // namespace opserve::cli
