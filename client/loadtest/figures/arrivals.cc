#include "client/loadtest/figures/arrivals.h"

#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/base/op_error.h"
#include "core/base/strings.h"

namespace opserve::loadtest {
namespace {

constexpr double kMaxPerSecond = 1e9;
constexpr size_t kMaxRecorded = 50'000'000;
constexpr double kMaxRecordedSeconds = 86400;

bool ParseRate(absl::string_view text, double& rate) {
  return absl::SimpleAtod(text, &rate) && rate >= 0 && rate <= kMaxPerSecond;
}

bool ParsePhase(absl::string_view text, RatePhase& phase) {
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(text, '@');
  const std::pair<absl::string_view, absl::string_view> rates =
      absl::StrSplit(parts.first, absl::MaxSplits("..", 1));
  if (!ParseRate(rates.first, phase.per_second)) return false;
  if (parts.first.find("..") != absl::string_view::npos &&
      !ParseRate(rates.second, phase.end_per_second.emplace()))
    return false;
  return phase.per_second + phase.last() > 0 &&
         absl::ParseDuration(parts.second, &phase.duration) &&
         phase.duration > absl::ZeroDuration() && phase.duration < absl::InfiniteDuration();
}

absl::Status BadLine(size_t line, std::string_view got) {
  return InvalidParameter(absl::StrCat("line ", line),
                          absl::StrCat("seconds since the start, from those of the line before to ",
                                       kMaxRecordedSeconds),
                          Quoted(got.substr(0, 40)));
}

}  // namespace

absl::StatusOr<std::vector<RatePhase>> ParseRatePhases(std::string_view flag,
                                                       std::string_view text) {
  std::vector<RatePhase> phases;
  for (const absl::string_view part : absl::StrSplit(ToAbsl(text), ',')) {
    if (ParsePhase(part, phases.emplace_back())) continue;
    return InvalidParameter(
        flag, "calls a second @ a time, as in 2000@2s,80000@500ms, or 0..5000@10s for a ramp",
        Quoted(ToStd(part)));
  }
  return phases;
}

// In calls.
double Arrivals::NextGap() {
  if (spacing_ == Spacing::kEven) return std::exchange(begun_, true) ? 1 : 0;
  // In (0, 1]: its logarithm is finite.
  return -std::log(std::ldexp(static_cast<double>((random_() >> 11) + 1), -53));
}

// Within a phase the rate is r(t) = a + s * t. `calls` of them take x with a' * x + s * x * x / 2 =
// calls, where a' is the rate now.
std::optional<Arrival> Arrivals::Next() {
  double calls = NextGap();
  while (phase_ < phases_.size()) {
    const RatePhase& phase = phases_[phase_];
    const double length = absl::ToDoubleSeconds(phase.duration);
    const double slope = (phase.last() - phase.per_second) / length;
    const double now = phase.per_second + slope * seconds_;
    const double left = length - seconds_;
    const double calls_left = left * (now + phase.last()) / 2;
    if (calls < calls_left) {
      if (calls > 0)
        seconds_ += 2 * calls / (now + std::sqrt(std::max(0.0, now * now + 2 * slope * calls)));
      return Arrival{phase_start_ + absl::Seconds(seconds_), phase_};
    }
    calls -= calls_left;
    phase_start_ += phase.duration;
    seconds_ = 0;
    ++phase_;
  }
  return std::nullopt;
}

absl::StatusOr<std::vector<absl::Duration>> ReadRecordedArrivals(std::string_view text) {
  std::vector<absl::Duration> times;
  size_t number = 0;
  double last = 0;
  for (absl::string_view line : absl::StrSplit(ToAbsl(text), '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    double seconds = 0;
    if (!absl::SimpleAtod(line, &seconds) || !(seconds >= last) || seconds > kMaxRecordedSeconds)
      return BadLine(number, ToStd(line));
    if (times.size() == kMaxRecorded)
      return InvalidParameter(absl::StrCat("line ", number),
                              absl::StrCat("at most ", kMaxRecorded, " times"), "more");
    times.push_back(absl::Seconds(last = seconds));
  }
  if (!times.empty()) return times;
  return InvalidParameter("line 1", "at least one time, in seconds since the start", "none");
}

}  // namespace opserve::loadtest
