// Who may call what, and whose calls are whose: asked of every call before anything is done with
// it.
#pragma once

#include <string>

#include <grpcpp/server_context.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/client_id.h"
#include "server/identity/token_store.h"

namespace opserve::server {

// The client that a call is charged to. A value; the call's context must outlive it. One thread at
// a time.
class Caller {
 public:
  // The address that the call comes from.
  explicit Caller(const grpc::CallbackServerContext& context) : context_(&context) {}
  // The client that has the call's token.
  Caller(const grpc::CallbackServerContext& context, ClientId of_token)
      : context_(&context), of_token_(of_token) {}

  // Always the same. Of an address, first takes as long as much of what small calls are for, and is
  // then not to be asked once the call is cancelled, as gRPC forgets its peer.
  ClientId client() const;
  // kNone without a token.
  ClientId of_token() const { return of_token_; }
  // As gRPC calls the connection's other end; nothing once the call is cancelled.
  std::string peer() const { return context_->peer(); }

 private:
  const grpc::CallbackServerContext* context_;
  ClientId of_token_ = ClientId::kNone;
  mutable ClientId client_ = of_token_;  // kNone: not asked yet
};

// Thread-safe.
class Gate {
 public:
  // Without `tokens`, nullptr, everybody may call everything. They must outlive it.
  explicit Gate(const TokenStore* tokens) : tokens_(tokens) {}

  // Who calls: the client that has the call's token, or, without `tokens`, an address.
  // UNAUTHENTICATED without a token that the server knows, PERMISSION_DENIED without the role; then
  // the log tells of it, a few times a second.
  absl::StatusOr<Caller> Admit(Role role, const grpc::CallbackServerContext& context) const;

 private:
  absl::StatusOr<Caller> Ask(Role role, const grpc::CallbackServerContext& context) const;

  const TokenStore* const tokens_;
};

}  // namespace opserve::server
