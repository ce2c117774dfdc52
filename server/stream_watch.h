// Connections that open streams and bring no messages on them: calls that are taken back at once,
// or whose methods nobody has; and those that bring frames of no call. gRPC ends these without
// asking anybody, and they cost it much.
#pragma once

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "server/connections/connection_table.h"

namespace opserve::server {

// Counts them by gRPC's channelz, which knows of each socket how many streams and messages came,
// and tells the table. Not thread-safe.
class StreamWatch {
 public:
  // The table must outlive it.
  explicit StreamWatch(const ConnectionTable& connections) : connections_(connections) {}

  // To be called about every 100 ms. Looks only at connections that bring, or brought a moment
  // ago, more than their messages.
  void Check();

 private:
  // What was known of a connection when it was looked at last.
  struct Known {
    int64_t other_bytes = 0;    // that came, and are of no message
    int64_t idle_bytes = 0;     // of those, what had come when a stream was seen last
    int64_t streams = 0;        // that were opened
    int64_t empty_streams = 0;  // without a message, the most there were
    int looks_left = 0;         // it is looked at for so long after it brought too much
    bool is_there = true;
  };
  using Suspects = absl::flat_hash_map<PeerAddress, std::shared_ptr<Connection>>;

  Suspects FindSuspects();
  void Judge(const Suspects& suspects);

  const ConnectionTable& connections_;
  absl::flat_hash_map<const Connection*, Known> known_;
};

}  // namespace opserve::server
