#include "server/transport/unary/gate.h"

#include <string_view>
#include <vector>

#include "core/base/status_macros.h"
#include "core/base/strings.h"
#include "server/connections/peer_address.h"
#include "server/identity/bearer.h"

namespace opserve::server {
namespace {

constexpr char kAuthorization[] = "authorization";

}  // namespace

ClientId Caller::client() const {
  if (client_ == ClientId::kNone) client_ = PeerAddress::Parse(context_->peer()).client();
  return client_;
}

absl::StatusOr<Caller> Gate::Ask(Role role, const grpc::CallbackServerContext& context) const {
  const auto [first, last] = context.client_metadata().equal_range(kAuthorization);
  std::vector<std::string_view> values;
  for (auto at = first; at != last; ++at) values.emplace_back(at->second.data(), at->second.size());
  OPSERVE_ASSIGN_OR_RETURN(const ClientId client, CheckBearer(*tokens_, role, values));
  return Caller(context, client);
}

absl::StatusOr<Caller> Gate::Admit(Role role, const grpc::CallbackServerContext& context) const {
  if (tokens_ == nullptr) return Caller(context);
  absl::StatusOr<Caller> caller = Ask(role, context);
  if (!caller.ok()) {
    tokens_->TellRefused(PeerAddress::Parse(context.peer()).host(), role,
                         ToStd(caller.status().message()));
  }
  return caller;
}

}  // namespace opserve::server
