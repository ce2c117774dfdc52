// `opserve bench`.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "client/cli/commands/bench_terminal.h"
#include "client/cli/commands/bench_work.h"
#include "client/cli/commands/call_texts.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/connecting.h"
#include "client/cli/files/files.h"
#include "client/cli/output/report.h"
#include "client/loadtest/calls/ceiling.h"
#include "client/loadtest/calls/prepared_load.h"
#include "client/loadtest/figures/arrivals.h"
#include "client/loadtest/load/measure.h"
#include "client/loadtest/load/search.h"
#include "client/loadtest/report/run_report.h"
#include "client/loadtest/report/texts.h"
#include "client/loadtest/scenario/scenario.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"
#include "core/base/usable_cores.h"

namespace opserve::cli {
namespace {

using loadtest::Level;
using loadtest::LevelReport;
using loadtest::RunReport;
using loadtest::Scenario;
using loadtest::Settings;

constexpr size_t kMaxFileBytes = size_t{256} << 20;

absl::StatusOr<std::string> ReadText(const std::string& path, size_t max_bytes) {
  OPSERVE_ASSIGN_OR_RETURN(
      const std::shared_ptr<const std::string> text,
      ReadFile(path, [max_bytes](std::span<const std::byte>) { return max_bytes; }));
  return *text;
}

loadtest::OperatorEntry EntryOf(const Arguments& arguments) {
  loadtest::OperatorEntry entry;
  entry.op = entry.name = arguments.op;
  if (!arguments.bench.shape.empty()) entry.shape = arguments.bench.shape;
  entry.dtype = arguments.bench.dtype;
  entry.device = arguments.device;
  for (const NamedText& input : arguments.inputs) entry.inputs.emplace_back(input.name, input.text);
  for (const NamedText& one : arguments.attributes)
    entry.attributes.emplace_back(one.name, one.text);
  for (const NamedText& output : arguments.dtypes)
    entry.dtypes.emplace_back(output.name, output.text);
  return entry;
}

// What the file and the flags say together.
absl::StatusOr<Scenario> MakeScenario(const Arguments& arguments) {
  const BenchArguments& bench = arguments.bench;
  Scenario scenario;
  if (!bench.scenario.empty()) {
    if (!arguments.op.empty()) return UsageError("bench: want an operator or --scenario, got both");
    OPSERVE_ASSIGN_OR_RETURN(const std::string text,
                             ReadText(bench.scenario, loadtest::kMaxScenarioBytes));
    OPSERVE_ASSIGN_OR_RETURN(scenario, loadtest::ReadScenario(bench.scenario, text));
  } else {
    scenario.operators.push_back(EntryOf(arguments));
    scenario.title = arguments.op;
  }
  for (const auto& [name, text] : bench.settings)
    OPSERVE_RETURN_IF_ERROR(loadtest::Set(name, text, scenario.settings));
  OPSERVE_RETURN_IF_ERROR(loadtest::CheckTogether(scenario.settings));
  if (!bench.title.empty()) scenario.title = bench.title;
  if (scenario.targets.empty() || arguments.target_given)
    scenario.targets = absl::StrSplit(arguments.target, ',', absl::SkipEmpty());
  return scenario;
}

absl::StatusOr<std::vector<loadtest::Work>> MakeWorks(const Scenario& scenario,
                                                      const Remote& remote) {
  std::vector<loadtest::Work> works;
  for (const loadtest::OperatorEntry& entry : scenario.operators) {
    OPSERVE_ASSIGN_OR_RETURN(const client::OperatorSchema schema, FetchSchema(entry.op, remote));
    const uint64_t seed = scenario.settings.seed + 1000 * works.size();
    OPSERVE_ASSIGN_OR_RETURN(loadtest::Work work,
                             MakeBenchWork(entry, schema, seed, scenario.settings.timeout));
    works.push_back(std::move(work));
  }
  return works;
}

loadtest::OpenLoop OpenLoopOf(const Settings& settings) {
  return {.phases = {},
          .spacing = settings.spacing,
          .recorded = {},
          .seed = settings.seed,
          .threads = settings.senders,
          .max_outstanding = settings.max_outstanding};
}

Level ClosedLevel(int in_flight) {
  return {.name = absl::StrCat(in_flight, " under way"),
          .load = static_cast<double>(in_flight),
          .in_flight = in_flight};
}

Level RateLevel(const Settings& settings, double rate) {
  Level level{.name = absl::StrCat(loadtest::ShortCount(rate), "/s"), .load = rate};
  level.open = OpenLoopOf(settings);
  level.open->phases = {{rate, settings.warm_up + settings.duration + settings.window}};
  return level;
}

// The levels that are asked for, or those without any; of a search, none or where to begin.
absl::StatusOr<std::vector<Level>> LevelsOf(const Settings& settings) {
  std::vector<Level> levels;
  if (!settings.phases.empty()) {
    Level& level = levels.emplace_back(Level{.name = "steps"});
    level.open = OpenLoopOf(settings);
    level.open->phases = settings.phases;
    for (const loadtest::RatePhase& phase : settings.phases)
      level.load = std::max({level.load, phase.per_second, phase.last()});
  } else if (!settings.replay.empty()) {
    const absl::StatusOr<std::string> text = ReadText(settings.replay, kMaxFileBytes);
    if (!text.ok()) return UsageError(text.status());
    Level& level = levels.emplace_back(Level{.name = "replay"});
    level.open = OpenLoopOf(settings);
    absl::StatusOr<std::vector<absl::Duration>> times = loadtest::ReadRecordedArrivals(*text);
    if (!times.ok()) return UsageError(WithOperator(times.status(), settings.replay));
    level.open->recorded = *std::move(times);
    const std::vector<absl::Duration>& recorded = level.open->recorded;
    level.load = static_cast<double>(recorded.size()) /
                 std::max(1e-3, absl::ToDoubleSeconds(recorded.back()));
  } else {
    for (const double rate : settings.rates) levels.push_back(RateLevel(settings, rate));
    for (const int in_flight : settings.concurrency) levels.push_back(ClosedLevel(in_flight));
  }
  const bool default_levels = levels.empty() && !settings.goal.has_value();
  for (int i = 1; default_levels && i <= 16; i *= 2) levels.push_back(ClosedLevel(i));
  return levels;
}

// A load and its report.
class Bench {
 public:
  Bench(const Arguments& arguments, Scenario scenario, std::vector<Level> levels,
        client::ConnectOptions connect)
      : arguments_(arguments),
        scenario_(std::move(scenario)),
        settings_(scenario_.settings),
        levels_(std::move(levels)),
        connect_(std::move(connect)) {}

  absl::StatusOr<RunReport> Run(const Remote& remote) {
    OPSERVE_ASSIGN_OR_RETURN(const client::ServerInfo info,
                             remote.client().GetServerInfo(remote.options()));
    OPSERVE_ASSIGN_OR_RETURN(std::vector<loadtest::Work> works, MakeWorks(scenario_, remote));
    for (const loadtest::Work& work : works) names_.push_back(work.name);
    OPSERVE_ASSIGN_OR_RETURN(load_, loadtest::PreparedLoad::Prepare(std::move(works), Options()));
    Describe(info);
    absl::Status status = settings_.goal.has_value() ? Search() : MeasureAll();
    if (status.ok() && !arguments_.bench.no_ceiling) MeasureCeiling();
    live_.Clear();
    OPSERVE_RETURN_IF_ERROR(status);
    return std::move(report_);
  }

 private:
  loadtest::LoadOptions Options() const {
    return {.targets = scenario_.targets,
            .connections = settings_.connections,
            .idle_connections = settings_.idle_connections,
            .mode = settings_.mode,
            .batch = settings_.batch,
            .checked_fraction = settings_.checked_fraction,
            .seed = settings_.seed,
            .connect = connect_,
            .patience = arguments_.timeout};
  }

  void Describe(const client::ServerInfo& info) {
    constexpr const char* kModes[] = {"unary", "batch", "session", "shared memory"};
    report_.title = scenario_.title;
    report_.version = OPSERVE_VERSION;
    report_.server_version = info.version;
    report_.targets = scenario_.targets;
    report_.mode = kModes[static_cast<size_t>(settings_.mode)];
    if (settings_.mode == loadtest::Mode::kBatch)
      absl::StrAppend(&report_.mode, " of ", settings_.batch);
    report_.connections = settings_.connections;
    report_.started = absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", absl::Now(), absl::UTCTimeZone());
    report_.seed = settings_.seed;
    report_.client_cpus = UsableCores();
    report_.prepared_calls = load_->calls_made();
  }

  loadtest::MeasureOptions MeasureOptionsOf(const Level& level) const {
    loadtest::MeasureOptions options{.warm_up = settings_.warm_up,
                                     .duration = settings_.duration,
                                     .window = settings_.window,
                                     .max_messages = settings_.count,
                                     .tolerance = settings_.tolerance};
    const bool ends_by_itself = !settings_.phases.empty() || !settings_.replay.empty();
    if (ends_by_itself) {
      options.warm_up = absl::ZeroDuration();
      options.duration =
          level.open->recorded.empty() ? absl::ZeroDuration() : level.open->recorded.back();
      for (const loadtest::RatePhase& phase : level.open->phases)
        options.duration += phase.duration;
    }
    // A time line has some ten windows at least, and is of a bounded length.
    if (!options.tolerance.has_value())
      options.window = std::min(options.window, options.duration / 10);
    options.window = std::max({options.window, options.duration / 3600, absl::Milliseconds(10)});
    // Its last message may take as long as any.
    if (ends_by_itself) options.duration += settings_.timeout;
    return options;
  }

  absl::Status MeasureLevel(const Level& level) {
    const loadtest::MeasureOptions options = MeasureOptionsOf(level);
    absl::Duration longest;
    for (const loadtest::Work& work : load_->works()) longest = std::max(longest, work.timeout);
    constexpr absl::Duration kSpare = absl::Seconds(30);
    OPSERVE_ASSIGN_OR_RETURN(const loadtest::Lanes lanes,
                             load_->Connect(options.warm_up + options.duration + longest + kSpare));
    loadtest::Mix mix = load_->MakeMix();
    live_.Show(absl::StrCat(level.name, "  warming up"));
    loadtest::Measurement measurement = loadtest::Measure(
        lanes, mix, level, options,
        [this](const Level& at, const loadtest::Window& window) {
          live_.Show(loadtest::ProgressLine(at.name, window));
        },
        interrupt_.asked());
    const double quantile = settings_.goal.has_value() ? settings_.goal->quantile : 0.99;
    report_.levels.push_back(loadtest::MakeLevelReport(
        measurement, names_, options, {.cpus = report_.client_cpus, .goal_quantile = quantile}));
    return absl::OkStatus();
  }

  absl::Status MeasureAll() {
    for (const Level& level : levels_) {
      if (interrupt_.asked()) break;
      OPSERVE_RETURN_IF_ERROR(MeasureLevel(level));
    }
    return absl::OkStatus();
  }

  // What this program can do, where it may have been at its limit.
  void MeasureCeiling() {
    LevelReport* level = loadtest::FindLimitedLevel(report_);
    if (level == nullptr || interrupt_.asked()) return;
    constexpr int kManyOnEach = 64;
    const int many =
        kManyOnEach * settings_.connections * static_cast<int>(scenario_.targets.size());
    live_.Show("this program's own ceiling");
    const absl::StatusOr<double> ceiling = loadtest::MeasureCeiling(
        *load_,
        {.in_flight = level->is_open ? many : static_cast<int>(level->load),
         .warm_up = std::min(settings_.warm_up, absl::Milliseconds(200)),
         .duration = std::min(settings_.duration, absl::Seconds(1))},
        interrupt_.asked());
    loadtest::NoteCeiling(ceiling, *level, report_);
  }

  bool MeetsGoal(const LevelReport& level) const {
    const loadtest::Goal& goal = *settings_.goal;
    // A server that does not keep up is over its limit, whatever its latency is so far.
    const double in_time = level.calls_per_second * absl::ToDoubleSeconds(level.measured);
    const bool keeps_up = in_time >= 0.9 * static_cast<double>(level.served_calls);
    return level.served_calls > 0 && keeps_up && level.goal_latency <= goal.limit &&
           level.FailedFraction() <= goal.failed_fraction;
  }

  absl::Status Search() {
    constexpr double kFirstRate = 100;
    const bool closed = !settings_.concurrency.empty();
    absl::Status status;
    std::string best;
    const double highest = loadtest::FindHighestLoad(
        {.first = levels_.empty() ? kFirstRate : levels_.front().load,
         .highest = closed ? 100'000 : 1e7,
         .whole = closed},
        [&](double load) -> std::optional<bool> {
          status = MeasureLevel(closed ? ClosedLevel(static_cast<int>(load))
                                       : RateLevel(settings_, load));
          if (!status.ok() || interrupt_.asked()) return std::nullopt;
          return MeetsGoal(report_.levels.back());
        });
    for (const LevelReport& level : report_.levels)
      if (level.load == highest) best = level.name;
    report_.search = {.goal = settings_.goal->text, .highest = highest, .level = best};
    std::stable_sort(report_.levels.begin(), report_.levels.end(),
                     [](const LevelReport& a, const LevelReport& b) { return a.load < b.load; });
    return status;
  }

  const Arguments& arguments_;
  const Scenario scenario_;
  const Settings& settings_;
  const std::vector<Level> levels_;
  const client::ConnectOptions connect_;
  const Interrupt interrupt_;
  const LiveLine live_;
  std::vector<std::string> names_;
  std::unique_ptr<loadtest::PreparedLoad> load_;
  RunReport report_;
};

// The runs of --compare, each as the page takes it.
absl::StatusOr<std::vector<std::string>> ReadRuns(const BenchArguments& bench) {
  std::vector<std::string> runs;
  for (const std::string& path : bench.compare) {
    const absl::StatusOr<std::string> text = ReadText(path, kMaxFileBytes);
    if (!text.ok()) return UsageError(text.status());
    absl::StatusOr<std::string> run = loadtest::CheckedReportJson(path, *text);
    if (!run.ok()) return UsageError(run.status());
    runs.push_back(*std::move(run));
  }
  return runs;
}

// Wrong answers, or none at all, are a failure of the command.
absl::Status CheckRun(const RunReport& report) {
  const loadtest::Failure* first = nullptr;
  int64_t served = 0;
  for (const LevelReport& level : report.levels) {
    served += level.served_calls;
    for (const auto* failures : {&level.failures, &level.warm_up_failures}) {
      for (const loadtest::Failure& failure : *failures) {
        if (failure.code == "DATA_LOSS") return absl::DataLossError(failure.example);
        if (first == nullptr) first = &failure;
      }
    }
  }
  if (served > 0 || report.levels.empty()) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(
      "no call was served", first == nullptr ? "" : absl::StrCat(": ", first->example)));
}

std::string ReportText(const Arguments& arguments, const RunReport& report,
                       const std::string& json) {
  if (arguments.format == OutputFormat::kJson) return json + "\n";
  return arguments.bench.csv ? loadtest::ReportCsv(report) : loadtest::ReportTable(report);
}

// All of them, whichever fails: a run is not made again easily. `runs`: those to compare with.
absl::Status WriteReports(const Arguments& arguments, const RunReport& report,
                          std::vector<std::string> runs) {
  const BenchArguments& bench = arguments.bench;
  const std::string json = loadtest::ReportJson(report);
  absl::Status status = WriteOutput(ReportText(arguments, report, json));
  if (!bench.save.empty()) status.Update(WriteFile(bench.save, json + "\n", {}));
  if (bench.html.empty()) return status;
  absl::StatusOr<std::string> own = loadtest::CheckedReportJson("run", json);
  status.Update(own.status());
  if (own.ok()) runs.push_back(*std::move(own));
  status.Update(WriteFile(bench.html, loadtest::ReportPage(runs), {}));
  return status;
}

}  // namespace

absl::Status RunBench(const Arguments& arguments) {
  const BenchArguments& bench = arguments.bench;
  if (!bench.compare.empty() && bench.html.empty())
    return UsageError("--compare: want --html FILE as well, got none");
  OPSERVE_ASSIGN_OR_RETURN(std::vector<std::string> runs, ReadRuns(bench));
  if (arguments.op.empty() && bench.scenario.empty()) {
    if (runs.empty()) return UsageError("bench: want an operator or --scenario, got none");
    return WriteFile(bench.html, loadtest::ReportPage(runs), {});
  }
  absl::StatusOr<Scenario> scenario = MakeScenario(arguments);
  if (!scenario.ok()) return UsageError(scenario.status());
  OPSERVE_ASSIGN_OR_RETURN(std::vector<Level> levels, LevelsOf(scenario->settings));
  absl::StatusOr<client::ConnectOptions> options = ConnectOptionsOf(arguments);
  if (!options.ok()) return UsageError(options.status());
  absl::StatusOr<client::Client> client =
      client::Client::Connect(scenario->targets.empty() ? "" : scenario->targets.front(), *options);
  if (!client.ok()) return UsageError(client.status());
  const Remote remote(*std::move(client), arguments.timeout);
  Bench run(arguments, *std::move(scenario), std::move(levels), *std::move(options));
  OPSERVE_ASSIGN_OR_RETURN(const RunReport report, run.Run(remote));
  OPSERVE_RETURN_IF_ERROR(WriteReports(arguments, report, std::move(runs)));
  return CheckRun(report);
}

}  // namespace opserve::cli
