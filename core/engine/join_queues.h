// The calls that wait to be joined. Of the engine only.
#pragma once

#include <map>
#include <memory>
#include <span>

#include "core/batch/keyed_queue.h"
#include "core/engine/engine.h"

namespace opserve {

// A queue of each device that has a Concatenation.
class Engine::JoinQueues {
 public:
  using Queue = KeyedQueue<WaitingCall>;

  explicit JoinQueues(std::span<const std::unique_ptr<Device>> devices) {
    for (const std::unique_ptr<Device>& device : devices)
      if (device->concatenation() != nullptr) queues_[device.get()];
  }

  // nullptr when the device's calls are not joined.
  Queue* Find(const Device& device) {
    const auto found = queues_.find(&device);
    return found == queues_.end() ? nullptr : &found->second;
  }

 private:
  std::map<const Device*, Queue> queues_;
};

}  // namespace opserve
