#include "server/identity/bearer.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/strings.h"

namespace opserve::server {
namespace {

constexpr std::string_view kBearer = "Bearer ";

absl::Status Refusal(ErrorReason reason, std::string want, std::string got) {
  return MakeError({.reason = reason,
                    .op = {},
                    .parameter = "authorization",
                    .want = std::move(want),
                    .got = std::move(got)});
}

absl::Status Unknown(std::string got) {
  return Refusal(ErrorReason::kUnauthenticated,
                 "'Bearer ' and a token that the server knows (--token-file)", std::move(got));
}

}  // namespace

absl::StatusOr<ClientId> CheckBearer(const TokenStore& tokens, Role role,
                                     std::span<const std::string_view> authorizations) {
  if (authorizations.empty()) return Unknown("nothing");
  if (authorizations.size() > 1) return Unknown("several");
  const std::string_view text = authorizations.front();
  if (!absl::StartsWithIgnoreCase(ToAbsl(text), ToAbsl(kBearer))) return Unknown("something else");
  const std::shared_ptr<const TokenTable> table = tokens.current();
  const TokenTable::Entry* entry = table->Find(text.substr(kBearer.size()));
  if (entry == nullptr) return Unknown("another token");
  if (entry->Has(role)) return entry->client();
  return Refusal(ErrorReason::kPermissionDenied,
                 absl::StrCat("a token with the role ", ToAbsl(RoleName(role))),
                 absl::StrCat("that of ", entry->name, ", which has ", entry->RoleNames()));
}

}  // namespace opserve::server
