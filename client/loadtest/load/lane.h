// A way to a server for the messages of a load. Loops know nothing of what is in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "client/loadtest/figures/outcome.h"
#include "core/base/clock.h"

namespace opserve::loadtest {

// Called once, on any thread, when a message is over. It may send another.
using LaneDone = std::function<void(const Outcome& outcome)>;

// Thread-safe.
class Lane {
 public:
  virtual ~Lane() = default;
  // Sends the message of entry `work` of the mix; nothing of it outlasts `timeout` by much.
  virtual void Send(size_t work, absl::Duration timeout, LaneDone done) = 0;
  // Ends what is past its time-out and what nothing else ends. Loops call it every few
  // milliseconds.
  virtual void Expire(absl::Time /*now*/) {}
  // Nothing goes through it any more.
  virtual bool is_broken() const { return false; }
};

using Lanes = std::vector<std::unique_ptr<Lane>>;

inline void ExpireAll(const Lanes& lanes) {
  const absl::Time now = Clock::Real().Now();
  for (const std::unique_ptr<Lane>& lane : lanes) lane->Expire(now);
}

}  // namespace opserve::loadtest
