#include "server/connection_limits.h"

#include "core/base/status_macros.h"
#include "server/descriptors.h"
#include "server/shared_memory/named_region_table.h"

namespace opserve::server {
namespace {

// What comes before the first message: HTTP/2's preface and settings, headers.
constexpr int64_t kPrefaceBytes = int64_t{64} << 10;

}  // namespace

absl::StatusOr<ConnectionLimits> LimitsOf(const ServerConfig& config) {
  ConnectionLimits limits{.max_of_peer = config.clients.max_connections_of_peer,
                          .client_share = config.clients.share,
                          .max_first_message_bytes = config.max_message_bytes + kPrefaceBytes};
  const int64_t of_regions = config.clients.open_inference_shared_memory ? kMaxNamedRegions : 0;
  OPSERVE_ASSIGN_OR_RETURN(
      limits.max_connections,
      ConnectionsFor(RaiseDescriptorLimit() - of_regions, config.clients.max_connections));
  const auto resets = static_cast<double>(config.clients.max_resets_per_second);
  limits.resets = {.per_second = resets, .burst = 10 * resets, .empty_burst = 2 * resets};
  return limits;
}

}  // namespace opserve::server
