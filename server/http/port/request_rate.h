// How often each client may ask for what takes long to make.
#pragma once

#include <cstddef>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "core/base/client_id.h"

namespace opserve::server {

// Not thread-safe.
class RequestRate {
 public:
  RequestRate(double per_second, double burst) : per_second_(per_second), burst_(burst) {}

  // Whether the client may ask now; counts it if so.
  bool Admit(ClientId client, absl::Time now);

  // Clients that asked lately.
  size_t num_clients() const { return allowances_.size(); }

 private:
  struct Allowance {
    double left;
    absl::Time reckoned;
  };
  double LeftAt(const Allowance& allowance, absl::Time now) const;
  // Those that may ask as often as one that never did. Looks at all, so not at every request.
  void ForgetRested(absl::Time now);

  const double per_second_;
  const double burst_;
  absl::flat_hash_map<ClientId, Allowance> allowances_;
  absl::Time last_forgetting_ = absl::InfinitePast();
};

}  // namespace opserve::server
