// Who may call what, by the bearer token that a call has.
#pragma once

#include <span>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/base/client_id.h"
#include "server/identity/token_store.h"

namespace opserve::server {

// The client that has the call's token; UNAUTHENTICATED without a token of `tokens`,
// PERMISSION_DENIED where that lacks the role. `authorizations` are the call's values of
// `authorization`.
absl::StatusOr<ClientId> CheckBearer(const TokenStore& tokens, Role role,
                                     std::span<const std::string_view> authorizations);

}  // namespace opserve::server
