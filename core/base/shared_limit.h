// A limit for all clients together, divided so that one client alone cannot take all and leave
// nothing for others.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "core/base/client_id.h"

namespace opserve {

// A client may hold `share` of what the others leave: with a share of 3/4 one client by itself
// 3/4 of the limit, two 3/7 each, and there is always room for one more. (These are dynamic
// thresholds: Choudhury and Hahne, 1998.) ClientId::kNone may hold all. Not thread-safe.
class SharedLimit {
 public:
  // 0 < `share` <= 1.
  SharedLimit(int64_t limit, double share) : limit_(limit), share_(share) {}

  enum class Verdict : uint8_t {
    kGranted,
    kFull,   // there is not as much left
    kShare,  // there is, but not for this client
  };

  // Whether `amount` >= 0 may be taken now.
  Verdict Check(ClientId client, int64_t amount) const;
  // Takes it if so.
  Verdict Take(ClientId client, int64_t amount);
  // Takes it in any case.
  void Add(ClientId client, int64_t amount);
  // What was taken.
  void Return(ClientId client, int64_t amount);

  int64_t limit() const { return limit_; }
  int64_t used() const { return used_; }
  // 0 for ClientId::kNone.
  int64_t used_by(ClientId client) const;
  // The most that the client may hold while others hold what they do now.
  int64_t MostOf(ClientId client) const;
  size_t num_clients() const { return clients_.size(); }

 private:
  int64_t limit_;
  double share_;
  int64_t used_ = 0;
  absl::flat_hash_map<ClientId, int64_t> clients_;  // that hold something
};

}  // namespace opserve
