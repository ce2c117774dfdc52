// The devices of a server.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "client/acl/provider/provider.h"

namespace opserve::acl {

// Opens a session on the server at `target`; see ServerSession::Open for what may go wrong.
absl::StatusOr<std::unique_ptr<Provider>> OpenServer(const std::string& target);

}  // namespace opserve::acl
