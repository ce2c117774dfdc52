// Who may call what: asked of every call before anything is done with it.
#pragma once

#include <grpcpp/server_context.h>

#include "absl/status/status.h"
#include "server/identity/token_store.h"

namespace opserve::server {

// Thread-safe.
class Gate {
 public:
  // Without `tokens`, nullptr, everybody may call everything. They must outlive it.
  explicit Gate(const TokenStore* tokens) : tokens_(tokens) {}

  // OK, or UNAUTHENTICATED without a token that the server knows, or PERMISSION_DENIED without the
  // role; then the log tells of it, a few times a second.
  absl::Status Admit(Role role, const grpc::CallbackServerContext& context) const;

 private:
  absl::Status Ask(Role role, const grpc::CallbackServerContext& context) const;

  const TokenStore* const tokens_;
};

}  // namespace opserve::server
