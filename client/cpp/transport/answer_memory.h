// Bounds on what the transport holds of answers that are still coming. Only for the sources that
// know gRPC.
#pragma once

#include <grpcpp/resource_quota.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace opserve::client {

// What one answer may take. Copies are the same room.
struct AnswerRoom {
  int64_t bytes = 0;
  std::shared_ptr<const void> memory;
};

// gRPC 1.51 looks at the size of a message when it has all of it, whatever limit it is given: a
// server could announce 4 GiB and send them. But it counts what it holds while bytes come, and ends
// a call ("Buffers full") when that is more than a quota. This is the quota of one connection: what
// the calls that are under way may need, their number rounded up to a power of two so that it
// seldom changes, and a constant. Thread-safe.
class AnswerMemory : public std::enable_shared_from_this<AnswerMemory> {
 public:
  // What every connection may hold beside its answers: buffers, headers, windows of streams.
  static constexpr int64_t kConstantBytes = int64_t{32} << 20;

  // For answers of at most so many bytes each.
  explicit AnswerMemory(int64_t answer_bytes);

  // For the channel.
  const grpc::ResourceQuota& quota() const { return quota_; }
  // Room for one more answer, until the last copy of it goes.
  AnswerRoom Reserve();
  int64_t rooms() const { return rooms_.load(); }

 private:
  void Add(int64_t rooms);

  const int64_t answer_bytes_;
  grpc::ResourceQuota quota_;
  std::atomic<int64_t> rooms_{0};
  std::atomic<uint64_t> granted_{0};  // rooms in the quota
  std::atomic<bool> resizing_{false};
};

}  // namespace opserve::client
