// How many streams sessions have open, on each device.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/engine/engine.h"

namespace opserve::server {

// Thread-safe. The engine must live while streams are taken.
class OpenStreams {
 public:
  // One of them, until it is destroyed. OpenStreams must outlive it.
  class Place {
   public:
    Place() = default;
    explicit Place(std::atomic<int64_t>& count) : count_(&count) { ++count; }
    Place(Place&& other) noexcept : count_(std::exchange(other.count_, nullptr)) {}
    Place& operator=(Place&& other) noexcept {
      std::swap(count_, other.count_);
      return *this;
    }
    ~Place() {
      if (count_ != nullptr) --*count_;
    }

   private:
    std::atomic<int64_t>* count_ = nullptr;
  };

  explicit OpenStreams(const Engine& engine) : engine_(engine), counts_(engine.devices().size()) {}

  // On a device of the engine.
  Place Take(const Device& device) { return Place(counts_[IndexOf(device)]); }
  // On the device at that place of Engine::devices.
  int64_t on(size_t device) const { return counts_[device]; }

 private:
  size_t IndexOf(const Device& device) const {
    size_t index = 0;
    while (engine_.devices()[index].get() != &device) ++index;
    return index;
  }

  const Engine& engine_;
  std::vector<std::atomic<int64_t>> counts_;
};

}  // namespace opserve::server
