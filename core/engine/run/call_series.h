// Calls of one plan that run one after the other on the thread that brings them.
#pragma once

#include <span>

#include "core/engine/load/counters.h"
#include "core/engine/run/one_shot.h"

namespace opserve {

struct CallSeries {
  struct Call {
    // For each index that Plan::storages has, the index into CallSeries::storages.
    std::span<const uint32_t> storages;
    absl::Status status;  // how it ended
  };

  const Plan* plan = nullptr;           // RunsInline, and makes all its outputs
  std::span<const Fragments> storages;  // of all of them, in memory that nobody changes
  std::span<Call> calls;
  ClientId client = ClientId::kNone;
  absl::Time deadline = absl::InfiniteFuture();
  // Asked before the first call runs; true drops them all. May be empty.
  absl::AnyInvocable<bool()> cancelled;
};

// What they made, in one piece of memory of the host.
class SeriesOutputs {
 public:
  // RESOURCE_EXHAUSTED: the device has no memory for all of them.
  static absl::StatusOr<SeriesOutputs> Lease(const Plan& plan, size_t calls, ClientId client);

  // No bytes for an output that is masked out or has no elements.
  std::span<std::byte> at(size_t call, size_t output) const {
    const Place& place = places_[output];
    return {place.bytes == 0 ? nullptr : memory_.data() + call * call_bytes_ + place.offset,
            place.bytes};
  }

  CallTimes times;  // of each call

 private:
  struct Place {
    size_t offset;  // from the start of the call's
    size_t bytes;
  };
  PooledBuffer memory_;
  size_t call_bytes_ = 0;
  absl::InlinedVector<Place, 2> places_;
};

// Engine::RunSeries.
absl::StatusOr<SeriesOutputs> RunSeries(CallSeries series, EngineCounters& counters);

}  // namespace opserve
