#include "server/transport/unary/gate.h"

#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/strings.h"
#include "server/connections/peer_address.h"

namespace opserve::server {
namespace {

constexpr char kAuthorization[] = "authorization";
constexpr std::string_view kBearer = "Bearer ";

absl::Status Refusal(ErrorReason reason, std::string want, std::string got) {
  return MakeError({.reason = reason,
                    .op = {},
                    .parameter = kAuthorization,
                    .want = std::move(want),
                    .got = std::move(got)});
}

absl::Status Unknown(std::string got) {
  return Refusal(ErrorReason::kUnauthenticated,
                 "'Bearer ' and a token that the server knows (--token-file)", std::move(got));
}

}  // namespace

ClientId Caller::client() const {
  return of_token_ != ClientId::kNone ? of_token_ : PeerAddress::Parse(context_->peer()).client();
}

absl::StatusOr<Caller> Gate::Ask(Role role, const grpc::CallbackServerContext& context) const {
  const auto [first, last] = context.client_metadata().equal_range(kAuthorization);
  if (first == last) return Unknown("nothing");
  if (std::next(first) != last) return Unknown("several");
  const std::string_view text(first->second.data(), first->second.size());
  if (!absl::StartsWithIgnoreCase(ToAbsl(text), ToAbsl(kBearer))) return Unknown("something else");
  const std::shared_ptr<const TokenTable> tokens = tokens_->current();
  const TokenTable::Entry* entry = tokens->Find(text.substr(kBearer.size()));
  if (entry == nullptr) return Unknown("another token");
  if (entry->Has(role)) return Caller(context, entry->client());
  return Refusal(ErrorReason::kPermissionDenied,
                 absl::StrCat("a token with the role ", ToAbsl(RoleName(role))),
                 absl::StrCat("that of ", entry->name, ", which has ", entry->RoleNames()));
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
