#include "tests/bench/e2e/arrivals.h"

#include <cmath>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "core/base/op_error.h"
#include "core/base/strings.h"

namespace opserve::bench {
namespace {

bool ParsePhase(absl::string_view text, RatePhase& phase) {
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(text, '@');
  return absl::SimpleAtod(parts.first, &phase.per_second) && phase.per_second > 0 &&
         std::isfinite(phase.per_second) && absl::ParseDuration(parts.second, &phase.duration) &&
         phase.duration > absl::ZeroDuration() && phase.duration < absl::InfiniteDuration();
}

}  // namespace

absl::StatusOr<std::vector<RatePhase>> ParseRatePhases(std::string_view text) {
  std::vector<RatePhase> phases;
  for (const absl::string_view part : absl::StrSplit(ToAbsl(text), ',')) {
    if (ParsePhase(part, phases.emplace_back())) continue;
    return InvalidParameter("--rate", "calls a second @ a time, as in 2000@2s,80000@500ms",
                            ToStd(part));
  }
  return phases;
}

std::optional<PoissonArrivals::Arrival> PoissonArrivals::Next() {
  // In (0, 1]: its logarithm is finite.
  const double uniform = std::ldexp(static_cast<double>((random_() >> 11) + 1), -53);
  double calls = -std::log(uniform);  // at a rate of 1
  while (phase_ < phases_.size()) {
    const RatePhase& phase = phases_[phase_];
    const absl::Duration end = phase_start_ + phase.duration;
    const absl::Duration at = now_ + absl::Seconds(calls / phase.per_second);
    if (at < end) {
      now_ = at;
      return Arrival{at, phase_};
    }
    calls -= absl::ToDoubleSeconds(end - now_) * phase.per_second;
    now_ = phase_start_ = end;
    ++phase_;
  }
  return std::nullopt;
}

}  // namespace opserve::bench
