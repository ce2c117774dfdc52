// A loop whose chunks threads share.
#pragma once

#include <atomic>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "core/base/parallel.h"

namespace opserve {

// One WorkerPool::ParallelFor, on its caller's stack.
struct SharedLoop {
  SharedLoop(int64_t chunk_count, absl::FunctionRef<WorkerPool::Loop(int64_t)> chunk_body,
             int64_t free_seats)
      : chunks(chunk_count), body(chunk_body), seats(free_seats) {}

  // False when there was none left.
  bool RunChunk() {
    if (ended.load(std::memory_order_relaxed)) return false;
    const int64_t chunk = next.fetch_add(1, std::memory_order_relaxed);
    if (chunk >= chunks) return false;
    if (body(chunk) == WorkerPool::Loop::kEnd) ended.store(true, std::memory_order_relaxed);
    return true;
  }

  const int64_t chunks;
  const absl::FunctionRef<WorkerPool::Loop(int64_t)> body;
  std::atomic<int64_t> next{0};
  std::atomic<bool> ended{false};
  int64_t seats;                // helpers that it can still have; under the pool's mutex
  std::atomic<int> helpers{0};  // grows under the pool's mutex only, while the loop is published
};

}  // namespace opserve
