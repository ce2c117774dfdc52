// Tasks that wait for a thread: clients have their turns one after the other, each client's tasks
// run in the order in which they came. Used by WorkerPool only.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "core/base/client_id.h"

namespace opserve {

// Not thread-safe. `Task` is movable.
template <typename Task>
class TaskQueue {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Taken {
    Task task;
    ClientId client;
  };

  void Push(ClientId client, Task task, Time now) {
    Lane& lane = lanes_[client];
    if (lane.waiting.empty()) {
      turns_.push_back(client);
      if (lane.running == 0) ++idle_clients_;
    }
    lane.waiting.push_back({std::move(task), now});
  }

  // The next client's, if one waits. It counts as running until End.
  std::optional<Taken> Pop() {
    if (turns_.empty()) return std::nullopt;
    return TakeFrom(turns_.begin());
  }

  // The next task of the client that has waited longest with none running.
  std::optional<Taken> PopLongestIdle() {
    const auto longest = LongestIdle();
    if (longest == turns_.end()) return std::nullopt;
    return TakeFrom(longest);
  }

  // Since when that client has waited so.
  std::optional<Time> LongestIdleSince() const {
    const auto longest = LongestIdle();
    if (longest == turns_.end()) return std::nullopt;
    return IdleSince(lanes_.find(*longest)->second);
  }
  bool has_idle_clients() const { return idle_clients_ > 0; }

  // A task of the client's is over.
  void End(ClientId client, Time now) {
    const auto at = lanes_.find(client);
    Lane& lane = at->second;
    if (--lane.running > 0) return;
    if (lane.waiting.empty()) {
      lanes_.erase(at);
    } else {
      ++idle_clients_;
      lane.ran_until = now;
    }
  }

 private:
  struct Waiting {
    Task task;
    Time since;
  };
  struct Lane {
    std::deque<Waiting> waiting;
    int running = 0;
    Time ran_until;
  };
  using Turns = std::deque<ClientId>;

  // Of a client with a task that waits and none that runs.
  static Time IdleSince(const Lane& lane) {
    return std::max(lane.waiting.front().since, lane.ran_until);
  }

  typename Turns::const_iterator LongestIdle() const {
    auto longest = turns_.end();
    if (idle_clients_ == 0) return longest;
    Time since;
    for (auto at = turns_.begin(); at != turns_.end(); ++at) {
      const Lane& lane = lanes_.find(*at)->second;
      if (lane.running > 0 || (longest != turns_.end() && IdleSince(lane) >= since)) continue;
      longest = at;
      since = IdleSince(lane);
    }
    return longest;
  }

  Taken TakeFrom(const typename Turns::const_iterator& turn) {
    const ClientId client = *turn;
    turns_.erase(turn);
    Lane& lane = lanes_.find(client)->second;
    if (lane.running++ == 0) --idle_clients_;
    Taken taken{std::move(lane.waiting.front().task), client};
    lane.waiting.pop_front();
    if (!lane.waiting.empty()) turns_.push_back(client);
    return taken;
  }

  absl::flat_hash_map<ClientId, Lane> lanes_;
  Turns turns_;           // clients with tasks that wait
  int idle_clients_ = 0;  // of them, those that have none running
};

}  // namespace opserve
