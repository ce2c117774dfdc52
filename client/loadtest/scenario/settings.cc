#include "client/loadtest/scenario/settings.h"

#include <cmath>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"

namespace opserve::loadtest {
namespace {

constexpr size_t kMaxLevels = 64;
constexpr double kMaxRate = 1e7;
constexpr absl::Duration kLongest = absl::Hours(24);

using Name = std::string_view;
using Text = std::string_view;
using Setter = absl::Status (*)(Name, Text, Settings&);

struct SettingRow {
  SettingInfo info;
  Setter set;
};

std::optional<double> ParseNumber(absl::string_view text) {
  double number = 0;
  if (!absl::SimpleAtod(text, &number) || !std::isfinite(number)) return std::nullopt;
  return number;
}

template <typename Value>
absl::Status SetWhole(Name name, Text text, int64_t low, int64_t high, Value& value) {
  int64_t number = 0;
  if (!absl::SimpleAtoi(ToAbsl(text), &number) || number < low || number > high)
    return InvalidParameter(name, absl::StrCat("a whole number from ", low, " to ", high),
                            Quoted(text));
  value = static_cast<Value>(number);
  return absl::OkStatus();
}

absl::Status SetTime(Name name, Text text, absl::Duration lowest, absl::Duration& value) {
  OPSERVE_ASSIGN_OR_RETURN(value, ParseTime(name, text));
  if (value >= lowest) return absl::OkStatus();
  return InvalidParameter(name, absl::StrCat("at least ", absl::FormatDuration(lowest)),
                          Quoted(text));
}

absl::Status SetMode(Name name, Text text, Settings& settings) {
  constexpr std::pair<Text, Mode> kModes[] = {{"unary", Mode::kUnary},
                                              {"batch", Mode::kBatch},
                                              {"session", Mode::kSession},
                                              {"shared", Mode::kShared}};
  for (const auto& [word, mode] : kModes) {
    if (word != text) continue;
    settings.mode = mode;
    return absl::OkStatus();
  }
  return InvalidParameter(name, "unary, batch, session or shared", Quoted(text));
}

absl::Status SetSpacing(Name name, Text text, Settings& settings) {
  if (text != "poisson" && text != "even")
    return InvalidParameter(name, "poisson or even", Quoted(text));
  settings.spacing = text == "even" ? Spacing::kEven : Spacing::kRandom;
  return absl::OkStatus();
}

absl::Status SetConcurrency(Name name, Text text, Settings& settings) {
  constexpr double kMost = 100'000;
  OPSERVE_ASSIGN_OR_RETURN(const std::vector<double> levels, ParseLevels(name, text));
  settings.concurrency.clear();
  for (const double level : levels) {
    if (level > kMost || level != std::floor(level))
      return InvalidParameter(name, absl::StrCat("whole numbers up to ", kMost),
                              absl::StrCat(level));
    settings.concurrency.push_back(static_cast<int>(level));
  }
  return absl::OkStatus();
}

absl::Status SetRates(Name name, Text text, Settings& settings) {
  OPSERVE_ASSIGN_OR_RETURN(settings.rates, ParseLevels(name, text));
  for (const double rate : settings.rates) {
    if (rate > kMaxRate)
      return InvalidParameter(name, absl::StrCat("at most ", kMaxRate, " calls a second"),
                              absl::StrCat(rate));
  }
  return absl::OkStatus();
}

absl::Status SetPhases(Name name, Text text, Settings& settings) {
  OPSERVE_ASSIGN_OR_RETURN(settings.phases, ParseRatePhases(name, text));
  absl::Duration sum;
  for (const RatePhase& phase : settings.phases) sum += phase.duration;
  if (sum <= kLongest) return absl::OkStatus();
  return InvalidParameter(name, "a day at most", absl::FormatDuration(sum));
}

absl::Status SetTolerance(Name name, Text text, Settings& settings) {
  absl::string_view number = ToAbsl(text);
  const bool percent = absl::ConsumeSuffix(&number, "%");
  const std::optional<double> value = ParseNumber(number);
  const double part = value.value_or(-1) / (percent ? 100 : 1);
  if (!(part > 0 && part <= 1))
    return InvalidParameter(name, "a part such as 10% or 0.1", Quoted(text));
  settings.tolerance = part;
  return absl::OkStatus();
}

absl::Status SetFraction(Name name, Text text, Settings& settings) {
  const std::optional<double> value = ParseNumber(ToAbsl(text));
  if (!value.has_value() || *value < 0 || *value > 1)
    return InvalidParameter(name, "a number from 0, none, to 1, all", Quoted(text));
  settings.checked_fraction = *value;
  return absl::OkStatus();
}

// "p99" and "p99.9" are percent; "p999" is "p99.9".
std::optional<double> ParseQuantile(absl::string_view text) {
  if (!absl::ConsumePrefix(&text, "p") || text.size() < 2 || text.size() > 7) return std::nullopt;
  const std::optional<double> number = ParseNumber(text);
  const bool nines = text.find_first_not_of('9') == absl::string_view::npos && text.size() > 2;
  const std::optional<double> quantile =
      nines ? ParseNumber(absl::StrCat("0.", text)) : number.value_or(0) / 100;
  if (!number.has_value() || *quantile <= 0 || *quantile >= 1) return std::nullopt;
  return quantile;
}

// "p99<5ms".
absl::Status SetGoal(Name name, Text text, Settings& settings) {
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(ToAbsl(text), '<');
  Goal goal{.text = std::string(text)};
  const std::optional<double> quantile = ParseQuantile(parts.first);
  if (!quantile.has_value() || !absl::ParseDuration(parts.second, &goal.limit) ||
      goal.limit <= absl::ZeroDuration() || goal.limit > kLongest)
    return InvalidParameter(name, "a quantile of the latency and its limit, as p99<5ms",
                            Quoted(text));
  goal.quantile = *quantile;
  settings.goal = goal;
  return absl::OkStatus();
}

absl::Status SetReplay(Name name, Text text, Settings& settings) {
  if (text.empty()) return InvalidParameter(name, "the path of a file", "nothing");
  settings.replay = text;
  return absl::OkStatus();
}

constexpr SettingRow kRows[] = {
    {{"mode", "MODE",
      "how calls are sent: unary (Execute), batch (ExecuteBatch), session (commands of a\n"
      "session, many in a message) or shared (memory shared with a server on this host) [unary]"},
     SetMode},
    {{"concurrency", "LEVELS",
      "closed loop: number of concurrent calls; several levels: 1,8,64, 1..64 (doubling),\n"
      "10..50+10 or 1..81*3 [1..16 unless a rate is given]"},
     SetConcurrency},
    {{"rate", "LEVELS",
      "open loop: messages per second, even if the server does not keep up; levels as above"},
     SetRates},
    {{"steps", "PHASES",
      "open loop with several rates in one run: 1000@5s,4000@5s; a ramp: 0..5000@30s"},
     SetPhases},
    {{"replay", "FILE", "open loop with recorded times: one per line, in seconds since the start"},
     SetReplay},
    {{"arrivals", "KIND",
      "open loop: poisson (random, as of independent callers) or even intervals [poisson]"},
     SetSpacing},
    {{"duration", "DURATION", "time for each level; with --stable or --count the maximum [10s]"},
     [](Name name, Text text, Settings& settings) {
       return SetTime(name, text, absl::Milliseconds(10), settings.duration);
     }},
    {{"warm-up", "DURATION", "time before the measurement of each level [1s]"},
     [](Name name, Text text, Settings& settings) {
       return SetTime(name, text, absl::ZeroDuration(), settings.warm_up);
     }},
    {{"window", "DURATION", "interval of the time line and of --stable [1s]"},
     [](Name name, Text text, Settings& settings) {
       return SetTime(name, text, absl::Milliseconds(10), settings.window);
     }},
    {{"stable", "PART",
      "end a level when the rates and median latencies of the last three windows differ from "
      "their\n"
      "mean by at most this, and report only these windows: 10%"},
     SetTolerance},
    {{"count", "N", "end a level after this number of messages"},
     [](Name name, Text text, Settings& settings) {
       return SetWhole(name, text, 1, int64_t{1} << 40, settings.count);
     }},
    {{"goal", "GOAL",
      "search for the highest load with this latency and at most 0.1% failed calls: p99<5ms.\n"
      "Begins at the first level of --rate or --concurrency"},
     SetGoal},
    {{"connections", "N", "number of connections to each target [1]"},
     [](Name name, Text text, Settings& settings) {
       return SetWhole(name, text, 1, 4096, settings.connections);
     }},
    {{"idle-connections", "N", "number of additional connections without calls [0]"},
     [](Name name, Text text, Settings& settings) {
       return SetWhole(name, text, 0, 16384, settings.idle_connections);
     }},
    {{"batch", "N", "--mode batch: calls in a message [100]"},
     [](Name name, Text text, Settings& settings) {
       return SetWhole(name, text, 1, 100'000, settings.batch);
     }},
    {{"call-timeout", "DURATION",
      "timeout of a call; in an open loop from the time when the call was due [10s]"},
     [](Name name, Text text, Settings& settings) {
       return SetTime(name, text, absl::Milliseconds(1), settings.timeout);
     }},
    {{"check", "PART",
      "part of the answers that is compared, bit by bit, with the first answer to the same\n"
      "inputs [0.01]"},
     SetFraction},
    {{"senders", "N", "open loop: number of sending threads [1]"},
     [](Name name, Text text, Settings& settings) {
       return SetWhole(name, text, 1, 256, settings.senders);
     }},
    {{"max-outstanding", "N",
      "open loop: maximum number of unanswered calls; further calls are counted but not sent "
      "[10000]"},
     [](Name name, Text text, Settings& settings) {
       return SetWhole(name, text, 1, 10'000'000, settings.max_outstanding);
     }},
    {{"seed", "N", "seed of random inputs, arrivals and the mix [1]"},
     [](Name name, Text text, Settings& settings) {
       return SetWhole(name, text, 0, int64_t{1} << 62, settings.seed);
     }},
};

absl::Status BadLevels(Name name, Text text) {
  return InvalidParameter(
      name, "numbers above 0 as 1,8,64, or a range: 1..64 (doubling), 10..50+10, 1..81*3",
      Quoted(text));
}

// "LOW..HIGH", "LOW..HIGH+STEP" or "LOW..HIGH*FACTOR".
absl::Status AddRange(Name name, absl::string_view part, std::vector<double>& levels) {
  const std::pair<absl::string_view, absl::string_view> ends =
      absl::StrSplit(part, absl::MaxSplits("..", 1));
  const size_t sign = ends.second.find_first_of("+*");
  const std::optional<double> low = ParseNumber(ends.first);
  const std::optional<double> high = ParseNumber(ends.second.substr(0, sign));
  const bool adds = sign != absl::string_view::npos && ends.second[sign] == '+';
  const std::optional<double> step =
      sign == absl::string_view::npos ? 2 : ParseNumber(ends.second.substr(sign + 1));
  const bool good = low.has_value() && high.has_value() && step.has_value() && *low > 0 &&
                    *low <= *high && *step > (adds ? 0 : 1);
  if (!good) return BadLevels(name, ToStd(part));
  for (double level = *low; level <= *high; level = adds ? level + *step : level * *step) {
    if (levels.size() == kMaxLevels)
      return InvalidParameter(name, absl::StrCat("at most ", kMaxLevels, " levels"), "more");
    levels.push_back(level);
  }
  return absl::OkStatus();
}

const SettingRow* Find(Name name) {
  for (const SettingRow& row : kRows) {
    if (name == row.info.name) return &row;
  }
  return nullptr;
}

}  // namespace

std::span<const SettingInfo> AllSettings() {
  static const auto& infos = *[] {
    auto* all = new std::vector<SettingInfo>;
    for (const SettingRow& row : kRows) all->push_back(row.info);
    return all;
  }();
  return infos;
}

absl::Status Set(std::string_view name, std::string_view value, Settings& settings) {
  if (const SettingRow* row = Find(name)) return row->set(name, value, settings);
  std::vector<std::string_view> known;
  for (const SettingRow& row : kRows) known.emplace_back(row.info.name);
  return UnknownParameter(name, "a setting of opserve bench" + DidYouMean(name, known, '\''),
                          "an unknown one");
}

absl::Status CheckTogether(const Settings& settings) {
  const int loads =
      static_cast<int>(!settings.concurrency.empty()) + static_cast<int>(!settings.rates.empty()) +
      static_cast<int>(!settings.phases.empty()) + static_cast<int>(!settings.replay.empty());
  if (loads > 1)
    return InvalidParameter("concurrency, rate, steps, replay", "one of them", absl::StrCat(loads));
  const bool one_run = !settings.phases.empty() || !settings.replay.empty();
  if (settings.goal.has_value() && one_run)
    return InvalidParameter("goal", "--rate or --concurrency to search in", "steps or replay");
  if (settings.goal.has_value() && settings.concurrency.size() + settings.rates.size() > 1)
    return InvalidParameter("goal", "one level to begin at", "several");
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> ParseLevels(std::string_view name, std::string_view text) {
  std::vector<double> levels;
  for (absl::string_view part : absl::StrSplit(ToAbsl(text), ',')) {
    part = absl::StripAsciiWhitespace(part);
    if (absl::StrContains(part, "..")) {
      OPSERVE_RETURN_IF_ERROR(AddRange(name, part, levels));
      continue;
    }
    const std::optional<double> level = ParseNumber(part);
    if (!level.has_value() || *level <= 0) return BadLevels(name, ToStd(part));
    if (levels.size() == kMaxLevels)
      return InvalidParameter(name, absl::StrCat("at most ", kMaxLevels, " levels"), "more");
    levels.push_back(*level);
  }
  return levels;
}

absl::StatusOr<absl::Duration> ParseTime(std::string_view name, std::string_view text) {
  absl::Duration time;
  if (absl::ParseDuration(ToAbsl(text), &time) && time >= absl::ZeroDuration() && time <= kLongest)
    return time;
  return InvalidParameter(name, "a time up to 24h such as 500ms or 10s", Quoted(text));
}

}  // namespace opserve::loadtest
