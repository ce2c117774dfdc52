// The bearer tokens that the server knows, and the roles of each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/client_id.h"

namespace opserve::server {

inline constexpr char kTokenFileFlag[] = "--token-file";

// A group of methods.
enum class Role : uint8_t {
  kDiscover,  // what the server is and has, plans, reflection
  kExecute,   // Execute, ExecuteBatch, ModelInfer
  kSession,   // sessions
  kObserve,   // GetStatistics, ModelStatistics
};
inline constexpr size_t kNumRoles = static_cast<size_t>(Role::kObserve) + 1;

// "discover"
std::string_view RoleName(Role role);

// Tokens are kept as their SHA-256: they cannot be read off a file or a core. Immutable.
class TokenTable {
 public:
  static constexpr size_t kMaxTokens = 1000;

  struct Entry {
    std::string name;  // of the client that has the token; several may have one name
    std::array<bool, kNumRoles> roles = {};
    std::array<uint8_t, 32> digest = {};

    bool Has(Role role) const { return roles[static_cast<size_t>(role)]; }
    // "discover,execute"
    std::string RoleNames() const;
    // Its work is charged to this: the same for all tokens of one name.
    ClientId client() const;
  };

  // Of lines `name role[,role…] sha256:HEX`, blank ones, and ones that begin with '#'. Errors
  // (161002) name --token-file and the line.
  static absl::StatusOr<TokenTable> Parse(std::string_view text);

  // nullptr for one that is none of these. Takes the same time for all tokens of one length, so
  // nothing can be learnt of those it has.
  const Entry* Find(std::string_view token) const;

  const std::vector<Entry>& entries() const { return entries_; }

 private:
  absl::Status AddLine(std::string_view line);

  std::vector<Entry> entries_;
};

}  // namespace opserve::server
