// When an open-loop load sends: at moments that do not depend on how the server does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace opserve::loadtest {

// A stretch of time with one rate, or with one that grows or falls evenly to `end_per_second`.
struct RatePhase {
  double per_second = 0;
  absl::Duration duration;
  std::optional<double> end_per_second = {};

  double last() const { return end_per_second.value_or(per_second); }
};

// Parses "2000@2s,80000@500ms" and "0..5000@10s", a ramp; errors name `flag`.
absl::StatusOr<std::vector<RatePhase>> ParseRatePhases(std::string_view flag,
                                                       std::string_view text);

// Evenly, or at random as independent callers come (a Poisson process).
enum class Spacing : uint8_t { kEven, kRandom };

struct Arrival {
  absl::Duration at;  // since the start; grows
  size_t phase = 0;
};

// The arrivals of a load, one after the other. Two of the same seed are the same. Not thread-safe.
class Arrivals {
 public:
  Arrivals(std::vector<RatePhase> phases, Spacing spacing, uint64_t seed)
      : phases_(std::move(phases)), spacing_(spacing), random_(seed) {}

  // nullopt once the last phase is over, and from then on.
  std::optional<Arrival> Next();

 private:
  double NextGap();

  const std::vector<RatePhase> phases_;
  const Spacing spacing_;
  std::mt19937_64 random_;
  bool begun_ = false;
  size_t phase_ = 0;
  absl::Duration phase_start_;
  double seconds_ = 0;  // since the phase's start
};

// Reads the times of a recorded load: a line each, in seconds since its start, that do not fall.
// Blank lines and what follows a '#' do not count. Errors name the line.
absl::StatusOr<std::vector<absl::Duration>> ReadRecordedArrivals(std::string_view text);

}  // namespace opserve::loadtest
