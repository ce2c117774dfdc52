#include "server/transport/unary/local_user.h"

#include "server/calls/infer_regions.h"

namespace opserve::server {

absl::StatusOr<LocalUser> LocalUserOf(const ConnectionTable& connections, const Caller& caller) {
  return RequireLocalUser(connections.UserOf(caller.peer()), caller.of_token());
}

}  // namespace opserve::server
