#include "client/loadtest/load/search.h"

#include <algorithm>
#include <cmath>

namespace opserve::loadtest {
namespace {

class Search {
 public:
  Search(const SearchBounds& bounds, MeetsGoal meets) : bounds_(bounds), meets_(meets) {}

  double Run() {
    double load = std::min(bounds_.first, bounds_.highest);
    while (Try(load)) {
      if (highest_met_ >= bounds_.highest) break;
      const bool bounded = highest_met_ > 0 && lowest_missed_ > 0;
      if (bounded && IsNearEnough()) break;
      load = bounded            ? Between()
             : highest_met_ > 0 ? highest_met_ * 2
                                : Rounded(lowest_missed_ / 2);
      load = std::min(load, bounds_.highest);
      if (load <= 0 || load < bounds_.first * 1e-6) break;
    }
    return highest_met_;
  }

 private:
  bool Try(double load) {
    if (trials_++ == bounds_.trials) return false;
    const std::optional<bool> met = meets_(load);
    if (!met.has_value()) return false;
    if (*met) {
      highest_met_ = std::max(highest_met_, load);
    } else {
      lowest_missed_ = lowest_missed_ > 0 ? std::min(lowest_missed_, load) : load;
    }
    return true;
  }

  double Rounded(double load) const { return bounds_.whole ? std::floor(load) : load; }
  double Between() const { return Rounded((highest_met_ + lowest_missed_) / 2); }
  bool IsNearEnough() const {
    const double apart = lowest_missed_ - highest_met_;
    return bounds_.whole && apart <= 1 ? true : apart <= bounds_.precision * highest_met_;
  }

  const SearchBounds& bounds_;
  const MeetsGoal meets_;
  int trials_ = 0;
  double highest_met_ = 0;
  double lowest_missed_ = 0;
};

}  // namespace

double FindHighestLoad(const SearchBounds& bounds, MeetsGoal meets) {
  return Search(bounds, meets).Run();
}

}  // namespace opserve::loadtest
