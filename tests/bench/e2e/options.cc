#include "tests/bench/e2e/options.h"

#include <map>
#include <sstream>
#include <utility>

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"

namespace opserve::bench {
namespace {

constexpr int kBadFlags = 2;

// The flags as they came.
struct FlagTexts {
  ClientOptions options;
  std::string peer = "opserve";
  std::string load = "unary";
  std::string rate;
  std::string warm_up = "500ms";
  std::string duration = "2s";
  std::string timeout = "10s";
  std::string interval = "0s";
};

template <typename Value>
void Add(CLI::App& app, const char* flag, Value& value, const char* help) {
  app.add_option(flag, value, help)->capture_default_str();
}

template <typename Value>
void AddCount(CLI::App& app, const char* flag, Value& value, const char* help) {
  app.add_option(flag, value, help)
      ->capture_default_str()
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
}

void AddMessageFlags(CLI::App& app, FlagTexts& texts) {
  ClientOptions& options = texts.options;
  Add(app, "--load", texts.load,
      "unary: Execute. infer: ModelInfer of the Open Inference Protocol. batch: ExecuteBatch.\n"
      "session: Execute on a session.\n"
      "upload, download: a session's buffer in chunks. pass-through: ExecuteChunked of\n"
      "L1LossBackward. shared: Execute on shared memory. client, blocking: the C++ client's "
      "ExecuteAsync and\n"
      "Execute, as programs call it. kernel: no server, in this process.");
  Add(app, "--workload", options.workload,
      "Of unary, batch and session. gradient: SmoothL1LossBackward. compute: L1Loss of few bytes\n"
      "and much work.");
  AddCount(app, "--elements", options.elements, "Of the workload.");
  AddCount(app, "--batch", options.batch, "Calls in a batch.");
  AddCount(app, "--total-bytes", options.transfer.total_bytes,
           "Of one upload, download or output of a pass-through.");
  AddCount(app, "--chunk-bytes", options.transfer.chunk_bytes, "Of its chunks.");
}

void AddLoopFlags(CLI::App& app, FlagTexts& texts) {
  ClientOptions& options = texts.options;
  AddCount(app, "--in-flight", options.in_flight,
           "Closed loop: messages outstanding in all; with streams: units on each.");
  AddCount(app, "--connections", options.connections, "Connections, with streams one on each.");
  Add(app, "--rate", texts.rate,
      "Open loop (unary, batch): messages a second and for how long, as in 2000@2s,80000@500ms;\n"
      "Poisson arrivals. --duration is not used then.");
  AddCount(app, "--threads", options.threads, "Open loop: threads that send.");
  AddCount(app, "--max-outstanding", options.max_outstanding,
           "Open loop: messages due beyond it are not sent, and counted as unsent.");
  Add(app, "--seed", options.seed, "Open loop: of the arrivals.");
  Add(app, "--warm-up", texts.warm_up, "Not measured; in an open loop at the first rate.");
  Add(app, "--duration", texts.duration, "Closed loop: how long to measure.");
  Add(app, "--timeout", texts.timeout,
      "Of each unary call (open loop: from when it was due), and of streams after the end.");
  Add(app, "--interval", texts.interval, "Report latencies by this raster of time too; 0s: not.");
}

void AddFlags(CLI::App& app, FlagTexts& texts) {
  app.add_option("--target", texts.options.target, "host:port or unix:path")->required();
  Add(app, "--peer", texts.peer, "What serves there: opserve, or echo (opserve-bench-echo).");
  AddMessageFlags(app, texts);
  AddLoopFlags(app, texts);
  Add(app, "--server-pid", texts.options.server_pid,
      "Report the CPU time and peak memory of this process, the server.");
  Add(app, "--json", texts.options.json, "File for the report; standard output without it.");
  app.footer(
      "Exit status: 0 when every answer was right, 1 when one was wrong, 77 when the server lacks\n"
      "the method.");
}

absl::StatusOr<LoadKind> ParseLoad(const std::string& text) {
  static const auto* const loads =
      new std::map<std::string, LoadKind>{{"unary", LoadKind::kUnary},
                                          {"infer", LoadKind::kInfer},
                                          {"batch", LoadKind::kBatch},
                                          {"session", LoadKind::kSession},
                                          {"upload", LoadKind::kUpload},
                                          {"download", LoadKind::kDownload},
                                          {"pass-through", LoadKind::kPassThrough},
                                          {"shared", LoadKind::kShared},
                                          {"client", LoadKind::kClient},
                                          {"blocking", LoadKind::kBlocking},
                                          {"kernel", LoadKind::kKernel}};
  const auto found = loads->find(text);
  if (found != loads->end()) return found->second;
  return InvalidParameter("--load",
                          "unary, infer, batch, session, upload, download, pass-through, shared, "
                          "client, blocking or kernel",
                          text);
}

absl::StatusOr<absl::Duration> ParseTime(const char* flag, const std::string& text) {
  absl::Duration time;
  if (absl::ParseDuration(text, &time) && time >= absl::ZeroDuration() && time <= absl::Hours(24))
    return time;
  return InvalidParameter(flag, "a time up to 24h such as 500ms or 2s", text);
}

absl::Status CheckTransfer(const TransferSize& size) {
  if (size.chunk_bytes % 4 != 0)
    return InvalidParameter("--chunk-bytes", "a multiple of 4", absl::StrCat(size.chunk_bytes));
  if (size.total_bytes % size.chunk_bytes == 0) return absl::OkStatus();
  return InvalidParameter("--total-bytes", "a multiple of --chunk-bytes",
                          absl::StrCat(size.total_bytes));
}

absl::StatusOr<ClientOptions> Interpret(const FlagTexts& texts) {
  ClientOptions options = texts.options;
  OPSERVE_ASSIGN_OR_RETURN(options.peer, ParsePeer(texts.peer));
  OPSERVE_ASSIGN_OR_RETURN(options.load, ParseLoad(texts.load));
  OPSERVE_ASSIGN_OR_RETURN(options.warm_up, ParseTime("--warm-up", texts.warm_up));
  OPSERVE_ASSIGN_OR_RETURN(options.duration, ParseTime("--duration", texts.duration));
  OPSERVE_ASSIGN_OR_RETURN(options.timeout, ParseTime("--timeout", texts.timeout));
  OPSERVE_ASSIGN_OR_RETURN(options.interval, ParseTime("--interval", texts.interval));
  OPSERVE_RETURN_IF_ERROR(CheckTransfer(options.transfer));
  if (texts.rate.empty()) return options;
  if (options.load != LoadKind::kUnary && options.load != LoadKind::kBatch)
    return InvalidParameter("--rate", "none with a load on streams", texts.rate);
  OPSERVE_ASSIGN_OR_RETURN(options.phases, loadtest::ParseRatePhases("--rate", texts.rate));
  options.duration = absl::ZeroDuration();
  for (const RatePhase& phase : options.phases) options.duration += phase.duration;
  return options;
}

EarlyExit BadFlags(std::string_view why) {
  return {kBadFlags, absl::StrCat("opserve-bench-client: ", ToAbsl(why), "\n")};
}

}  // namespace

std::variant<ClientOptions, EarlyExit> ParseClientOptions(int argc, const char* const* argv) {
  FlagTexts texts;
  texts.options.max_outstanding = 100'000;
  texts.options.transfer = {.total_bytes = 64 << 20, .chunk_bytes = 1 << 20};
  CLI::App app("Loads a server and reports how it did.", "opserve-bench-client");
  AddFlags(app, texts);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    std::ostringstream output;
    app.exit(success, output, output);
    return EarlyExit{0, output.str()};
  } catch (const CLI::ParseError& error) {
    return BadFlags(error.what());
  }
  absl::StatusOr<ClientOptions> options = Interpret(texts);
  if (!options.ok()) return BadFlags(ToStd(options.status().message()));
  return *std::move(options);
}

}  // namespace opserve::bench
