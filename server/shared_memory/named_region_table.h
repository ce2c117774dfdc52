// The regions of shared memory that clients of the Open Inference Protocol registered.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "core/base/client_id.h"
#include "core/base/mutex.h"
#include "core/base/shared_limit.h"
#include "server/shared_memory/named_region.h"

namespace opserve::server {

// Of all clients; each region takes a descriptor.
inline constexpr int64_t kMaxNamedRegions = 1024;

// Whose regions are whose: a user of this machine and, where tokens are asked for, a token.
struct LocalUser {
  uid_t user = 0;
  ClientId token = ClientId::kNone;

  friend bool operator==(const LocalUser&, const LocalUser&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const LocalUser& who) {
    return H::combine(std::move(state), who.user, who.token);
  }
};

// Thread-safe. A region that is unregistered stays as long as a call has it.
class NamedRegionTable {
 public:
  using Regions = std::vector<std::shared_ptr<const NamedRegion>>;

  // Of those that are registered, of all clients.
  struct Stats {
    int64_t regions = 0;
    double bytes = 0;  // theirs: as objects may be sparse, more than an int64_t holds
  };

  // `client_share` of the regions at most for one, see SharedLimit.
  explicit NamedRegionTable(double client_share) : places_(kMaxNamedRegions, client_share) {}

  // Errors: NamedRegion::Open's; ID_IN_USE naming `name`, with the code ALREADY_EXISTS, which is
  // Triton's; RESOURCE_EXHAUSTED naming `regions`.
  absl::Status Register(const LocalUser& who, NamedRegionSpec spec);
  // All of its for an empty name. Nothing for one that it has not.
  void Unregister(const LocalUser& who, std::string_view name);

  // nullptr: it has none of that name.
  std::shared_ptr<const NamedRegion> Find(const LocalUser& who, std::string_view name) const;
  // All of its.
  Regions List(const LocalUser& who) const;

  Stats stats() const;

 private:
  using ByName = absl::flat_hash_map<std::string, std::shared_ptr<const NamedRegion>>;

  mutable Mutex mutex_;
  SharedLimit places_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<LocalUser, ByName> regions_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace opserve::server
