#include "server/identity/token_table.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"

namespace opserve::server {
namespace {

constexpr std::array<std::string_view, kNumRoles> kRoleNames = {"discover", "execute", "session",
                                                                "observe"};
constexpr size_t kMaxCallerBytes = 64;
constexpr absl::string_view kScheme = "sha256:";

using Digest = std::array<uint8_t, SHA256_DIGEST_LENGTH>;

Digest DigestOf(std::string_view token) {
  Digest digest = {};
  ::SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest.data());
  return digest;
}

bool IsName(absl::string_view text) {
  const auto may_be = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-' ||
           c == '@';
  };
  return !text.empty() && text.size() <= kMaxCallerBytes &&
         std::all_of(text.begin(), text.end(), may_be);
}

std::optional<uint8_t> HexDigit(char c) {
  if (c >= '0' && c <= '9') return static_cast<uint8_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<uint8_t>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<uint8_t>(c - 'A' + 10);
  return std::nullopt;
}

std::optional<Digest> ReadDigest(absl::string_view text) {
  Digest digest = {};
  if (!absl::ConsumePrefix(&text, kScheme) || text.size() != 2 * digest.size()) return std::nullopt;
  for (size_t i = 0; i < digest.size(); ++i) {
    const std::optional<uint8_t> high = HexDigit(text[2 * i]);
    const std::optional<uint8_t> low = HexDigit(text[2 * i + 1]);
    if (!high.has_value() || !low.has_value()) return std::nullopt;
    digest[i] = static_cast<uint8_t>(*high << 4 | *low);
  }
  return digest;
}

// Of what the line should have been. What it is stays out of logs: a token may have got there.
absl::Status WrongLine(std::string_view want) {
  return InvalidParameter(kTokenFileFlag, want, "another");
}

absl::Status ReadRoles(absl::string_view text, TokenTable::Entry& entry) {
  for (const absl::string_view name : absl::StrSplit(text, ',')) {
    const auto* const at = std::find(kRoleNames.begin(), kRoleNames.end(), ToStd(name));
    if (at == kRoleNames.end())
      return WrongLine(absl::StrCat(
          "of the roles ",
          absl::StrJoin(kRoleNames, ", ",
                        [](std::string* out, std::string_view role) { out->append(role); }),
          ", with commas between them"));
    entry.roles[static_cast<size_t>(at - kRoleNames.begin())] = true;
  }
  return absl::OkStatus();
}

}  // namespace

std::string_view RoleName(Role role) { return kRoleNames[static_cast<size_t>(role)]; }

std::string TokenTable::Entry::RoleNames() const {
  std::string names;
  for (size_t i = 0; i < kNumRoles; ++i) {
    if (!roles[i]) continue;
    if (!names.empty()) names.push_back(',');
    names.append(kRoleNames[i]);
  }
  return names;
}

ClientId TokenTable::Entry::client() const {
  // 0 is ClientId::kNone; the first element tells a name from an address.
  return ClientId{std::max<uint64_t>(1, absl::HashOf(std::string_view("token"), name))};
}

absl::StatusOr<TokenTable> TokenTable::Parse(std::string_view text) {
  TokenTable table;
  int number = 0;
  for (const absl::string_view each : absl::StrSplit(ToAbsl(text), '\n')) {
    ++number;
    const absl::string_view line = absl::StripAsciiWhitespace(each);
    if (line.empty() || line.front() == '#') continue;
    const absl::Status status = table.AddLine(ToStd(line));
    if (status.ok()) continue;
    const ErrorDetail detail = GetErrorDetail(status).value_or(ErrorDetail());
    return InvalidParameter(kTokenFileFlag, absl::StrCat("in line ", number, " ", detail.want),
                            detail.got);
  }
  if (!table.entries_.empty()) return table;
  return InvalidParameter(kTokenFileFlag, "one token at least", "none");
}

absl::Status TokenTable::AddLine(std::string_view line) {
  const std::vector<absl::string_view> words =
      absl::StrSplit(ToAbsl(line), absl::ByAnyChar(" \t"), absl::SkipEmpty());
  if (words.size() != 3) return WrongLine("name role[,role] sha256:HEX");
  Entry entry;
  entry.name.assign(words[0].data(), words[0].size());
  if (!IsName(words[0]))
    return WrongLine(
        absl::StrCat("a name of at most ", kMaxCallerBytes, " letters, digits and ._-@"));
  OPSERVE_RETURN_IF_ERROR(ReadRoles(words[1], entry));
  const std::optional<Digest> digest = ReadDigest(words[2]);
  if (!digest.has_value()) return WrongLine("sha256: and the 64 hexadecimal digits of a SHA-256");
  entry.digest = *digest;
  const auto is_same = [&](const Entry& other) { return other.digest == entry.digest; };
  if (std::any_of(entries_.begin(), entries_.end(), is_same))
    return WrongLine("a token that no line before it has");
  if (entries_.size() == kMaxTokens)
    return WrongLine(absl::StrCat("at most ", kMaxTokens, " tokens"));
  entries_.push_back(std::move(entry));
  return absl::OkStatus();
}

const TokenTable::Entry* TokenTable::Find(std::string_view token) const {
  const Digest digest = DigestOf(token);
  const Entry* found = nullptr;
  for (const Entry& entry : entries_) {
    if (::CRYPTO_memcmp(entry.digest.data(), digest.data(), digest.size()) == 0) found = &entry;
  }
  return found;
}

}  // namespace opserve::server
