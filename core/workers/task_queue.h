// Tasks that wait for a thread. Clients share the threads' time, each client's tasks run in the
// order in which they came. Used by WorkerPool only.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "core/base/client_id.h"

namespace opserve {

// Fair queueing by the time that tasks took (as in Demers, Keshav, Shenker 1989): next is the
// client that will have been served least when its next task is over, if that takes as long as its
// last ones; served is counted from where the others were when it came. So a client that asks for
// little waits for about one task of another's, however many others want the threads for
// themselves. Not thread-safe. `Task` is movable.
template <typename Task>
class TaskQueue {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = Time::duration;

  struct Taken {
    Task task;
    ClientId client = ClientId::kNone;
    Time start;
  };

  void Push(ClientId client, Task task, Time now) {
    Lane& lane = lanes_[client];
    if (lane.waiting.empty()) {
      if (lane.running == 0) {
        resting_.erase({lane.served, client});
        lane.served = std::max(lane.served, least_served_);
        ++idle_clients_;
      }
      Queue(client, lane);
    }
    lane.waiting.push_back({std::move(task), now});
  }

  bool empty() const { return turns_.empty(); }

  // The next client's, if one waits. It counts as running until End.
  std::optional<Taken> Pop(Time now) {
    if (turns_.empty()) return std::nullopt;
    return TakeFrom(turns_.begin(), now);
  }

  // The task of the next client that has waited since `since` or longer with none running.
  std::optional<Taken> PopIdle(Time since, Time now) {
    if (idle_clients_ == 0) return std::nullopt;
    for (auto turn = turns_.begin(); turn != turns_.end(); ++turn) {
      const Lane& lane = LaneOf(*turn);
      if (lane.running == 0 && IdleSince(lane) <= since) return TakeFrom(turn, now);
    }
    return std::nullopt;
  }

  // Since when the client that has waited longest with none running has waited so.
  std::optional<Time> LongestIdleSince() const {
    std::optional<Time> longest;
    if (idle_clients_ == 0) return longest;
    for (const Turn& turn : turns_) {
      const Lane& lane = lanes_.find(turn.client)->second;
      if (lane.running > 0) continue;
      longest = std::min(longest.value_or(Time::max()), IdleSince(lane));
    }
    return longest;
  }
  bool has_idle_clients() const { return idle_clients_ > 0; }

  // What was taken is over.
  void End(ClientId client, Time start, Time now) {
    Lane& lane = lanes_.find(client)->second;
    --lane.running;
    const bool waits = !lane.waiting.empty();
    if (waits) turns_.erase(TurnOf(client, lane));
    // No task, however long it took, keeps a client waiting for others' for longer than this.
    const Duration took = std::min<Duration>(now - start, kMostAhead);
    lane.served = std::min(lane.served + took, least_served_ + kMostAhead);
    lane.expected = (lane.expected + took) / 2;
    if (waits) {
      Queue(client, lane);
      if (lane.running > 0) return;
      ++idle_clients_;
      lane.ran_until = now;
    } else if (lane.running == 0) {
      resting_.insert({lane.served, client});
      Forget();
    }
  }

 private:
  static constexpr std::chrono::seconds kMostAhead{1};
  static constexpr size_t kMostResting = 1024;

  struct Waiting {
    Task task;
    Time since;
  };
  struct Lane {
    std::deque<Waiting> waiting;
    int running = 0;
    Duration served{0};
    Duration expected{0};  // what a task takes
    uint64_t turn = 0;     // while something waits
    Time ran_until;
  };
  // Of a client with tasks that wait.
  struct Turn {
    Duration served_after{0};
    uint64_t number = 0;
    ClientId client = ClientId::kNone;
    bool operator<(const Turn& other) const {
      return std::tie(served_after, number) < std::tie(other.served_after, other.number);
    }
  };
  using Turns = absl::btree_set<Turn>;

  Lane& LaneOf(const Turn& turn) { return lanes_.find(turn.client)->second; }

  void Queue(ClientId client, Lane& lane) {
    lane.turn = next_turn_++;
    turns_.insert(TurnOf(client, lane));
  }
  static Turn TurnOf(ClientId client, const Lane& lane) {
    return {lane.served + lane.expected, lane.turn, client};
  }

  // Of a client with a task that waits and none that runs.
  static Time IdleSince(const Lane& lane) {
    return std::max(lane.waiting.front().since, lane.ran_until);
  }

  Taken TakeFrom(typename Turns::const_iterator turn, Time now) {
    const ClientId client = turn->client;
    turns_.erase(turn);
    Lane& lane = lanes_.find(client)->second;
    least_served_ = std::max(least_served_, lane.served);
    if (lane.running++ == 0) --idle_clients_;
    Taken taken{std::move(lane.waiting.front().task), client, now};
    lane.waiting.pop_front();
    if (!lane.waiting.empty()) Queue(client, lane);
    Forget();
    return taken;
  }

  // Clients that have nothing here, and were served no more than one that comes now; all, where
  // nobody has anything.
  void Forget() {
    while (!resting_.empty() &&
           (resting_.begin()->first <= least_served_ || resting_.size() == lanes_.size() ||
            resting_.size() > kMostResting)) {
      lanes_.erase(resting_.begin()->second);
      resting_.erase(resting_.begin());
    }
  }

  absl::flat_hash_map<ClientId, Lane> lanes_;
  Turns turns_;
  absl::btree_set<std::pair<Duration, ClientId>> resting_;  // with nothing that waits or runs
  Duration least_served_{0};  // what a client that comes now counts as served
  uint64_t next_turn_ = 0;
  int idle_clients_ = 0;  // of those with tasks that wait: those that have none running
};

}  // namespace opserve
