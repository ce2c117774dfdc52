// What `opserve bench` reads: scenario files, recorded arrivals, and its settings.
//
// Input: the text of a scenario; or, behind a first byte of '@', the times of recorded arrivals;
// or, behind '=', the number of a setting as a byte and its text.
#include <algorithm>

#include "client/loadtest/figures/arrivals.h"
#include "client/loadtest/scenario/scenario.h"
#include "tests/fuzz/fuzz_input.h"

namespace opserve::fuzz {
namespace {

using loadtest::Settings;

void CheckSettings(const Settings& settings) {
  for (const int level : settings.concurrency) Require(level > 0, "calls are under way");
  for (const double rate : settings.rates) Require(rate > 0 && rate <= 1e7, "rates are bounded");
  Require(settings.concurrency.size() <= 64 && settings.rates.size() <= 64, "levels are bounded");
  for (const loadtest::RatePhase& phase : settings.phases)
    Require(phase.per_second + phase.last() > 0 && phase.duration > absl::ZeroDuration(), "phases");
  Require(settings.duration > absl::ZeroDuration() && settings.duration <= absl::Hours(24),
          "times");
  Require(settings.checked_fraction >= 0 && settings.checked_fraction <= 1, "fractions");
  if (settings.goal.has_value())
    Require(settings.goal->quantile > 0 && settings.goal->quantile < 1, "quantiles");
}

void ReadArrivals(std::string_view text) {
  const auto times = loadtest::ReadRecordedArrivals(text);
  if (!times.ok()) return RequireDetail(times.status());
  Require(!times->empty() && std::is_sorted(times->begin(), times->end()), "times do not fall");
}

void ReadSetting(Input input) {
  const auto all = loadtest::AllSettings();
  const char* const name = all[input.TakeByte() % all.size()].name;
  Settings settings;
  const absl::Status status = loadtest::Set(name, input.rest(), settings);
  if (!status.ok()) return RequireDetail(status);
  CheckSettings(settings);
}

void ReadFile(std::string_view text) {
  const auto scenario = loadtest::ReadScenario("file.yaml", text);
  if (!scenario.ok()) {
    RequireDetail(scenario.status());
    const std::string message(scenario.status().message());
    return Require(message.starts_with("file.yaml:"), "an error says where");
  }
  Require(!scenario->operators.empty() && scenario->operators.size() <= loadtest::kMaxOperators,
          "there are operators");
  for (const loadtest::OperatorEntry& entry : scenario->operators)
    Require(!entry.op.empty() && entry.weight > 0 && entry.line > 0, "entries are sound");
  CheckSettings(scenario->settings);
}

}  // namespace
}  // namespace opserve::fuzz

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = opserve::fuzz;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.starts_with('@')) {
    fuzz::ReadArrivals(text.substr(1));
  } else if (text.starts_with('=')) {
    fuzz::ReadSetting(fuzz::Input(data + 1, size - 1));
  } else {
    fuzz::ReadFile(text);
  }
  return 0;
}
