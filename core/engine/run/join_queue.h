// The calls that wait to be joined with others of their kind. Of the engine only.
#pragma once

#include <vector>

#include "core/batch/keyed_queue.h"
#include "core/engine/load/counters.h"
#include "core/engine/run/one_shot.h"

namespace opserve {

// Those of one device, which has a Concatenation. Thread-safe; it and `counters` must outlive what
// the device's workers have.
class JoinQueue {
 public:
  JoinQueue(Device& device, EngineCounters& counters) : device_(device), counters_(counters) {}

  // Queues a call that was admitted and may be joined with others, and takes both arguments; false
  // for any other.
  bool Enqueue(OneShot& shot, Admission::Place& place);

 private:
  class Turn;
  struct Waiting {
    OneShot shot;
    Admission::Place place;
  };

  // Runs calls with the same key, whose turn has come, as one.
  void Run(std::vector<Waiting> calls);
  absl::StatusOr<Outputs> Execute(std::vector<Waiting>& calls, absl::Time now);
  void End(std::vector<Waiting> calls, Outputs joined);

  Device& device_;
  EngineCounters& counters_;
  KeyedQueue<Waiting> waiting_;
};

}  // namespace opserve
