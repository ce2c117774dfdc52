// One measurement: a load at one level, warmed up, for a while or until its figures are stable.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "client/loadtest/figures/recorder.h"
#include "client/loadtest/load/lane.h"
#include "client/loadtest/load/loops.h"
#include "client/loadtest/load/mix.h"

namespace opserve::loadtest {

// What is put on the server.
struct Level {
  std::string name;  // "8 in flight", "2000 calls/s"
  double load = 0;   // that number: the place on the axis
  int in_flight = 0;
  std::optional<OpenLoop> open;  // instead of `in_flight`
};

struct MeasureOptions {
  absl::Duration warm_up;
  absl::Duration duration;          // at most
  absl::Duration window;            // of the time line, and of the rule of stability
  int64_t max_messages = 0;         // after the warm-up; 0 = any number
  std::optional<double> tolerance;  // ends once three windows are that near to their mean
};

struct Measurement {
  Level level;
  std::unique_ptr<Recorder> recorder;
  std::vector<Window> windows;
  bool stable = false;       // of one with a tolerance: whether it was reached
  bool interrupted = false;  // by `stop`
  double client_cores = 0;   // that this process used
};

// Who is told of each window as it ends, on the thread that measures.
using OnWindow = std::function<void(const Level& level, const Window& window)>;

// Loads the server behind `lanes`. Once `stop` is true, it sends nothing more and returns what it
// has.
Measurement Measure(const Lanes& lanes, Mix& mix, const Level& level, const MeasureOptions& options,
                    const OnWindow& on_window, const std::atomic<bool>& stop);

}  // namespace opserve::loadtest
