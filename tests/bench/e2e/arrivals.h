// When an open-loop load sends: at random moments that do not depend on how the server does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace opserve::bench {

struct RatePhase {
  double per_second = 0;
  absl::Duration duration;
};

// Parses "2000@2s,80000@500ms"; errors name --rate.
absl::StatusOr<std::vector<RatePhase>> ParseRatePhases(std::string_view text);

// A Poisson process whose rate changes from phase to phase. Two of the same seed are the same.
class PoissonArrivals {
 public:
  struct Arrival {
    absl::Duration at;  // since the start; grows
    size_t phase = 0;
  };

  PoissonArrivals(std::vector<RatePhase> phases, uint64_t seed)
      : phases_(std::move(phases)), random_(seed) {}

  // nullopt once the last phase is over, and from then on.
  std::optional<Arrival> Next();

 private:
  const std::vector<RatePhase> phases_;
  std::mt19937_64 random_;
  size_t phase_ = 0;
  absl::Duration phase_start_;
  absl::Duration now_;
};

}  // namespace opserve::bench
