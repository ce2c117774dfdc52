// The server's token file.
//
// Input: the text.
#include "server/identity/token_table.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "tests/fuzz/fuzz_input.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = opserve::fuzz;
  using opserve::server::TokenTable;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<TokenTable> table = TokenTable::Parse(text);
  if (!table.ok()) return 0;
  fuzz::Require(!table->entries().empty(), "a file without tokens is refused");
  fuzz::Require(table->entries().size() <= TokenTable::kMaxTokens, "there are not too many");
  std::string written;
  for (const TokenTable::Entry& entry : table->entries()) {
    const std::string digest(reinterpret_cast<const char*>(entry.digest.data()),
                             entry.digest.size());
    fuzz::Require(!entry.RoleNames().empty(), "each has a role");
    absl::StrAppend(&written, entry.name, " ", entry.RoleNames(),
                    " sha256:", absl::BytesToHexString(digest), "\n");
  }
  const absl::StatusOr<TokenTable> again = TokenTable::Parse(written);
  fuzz::Require(again.ok() && again->entries().size() == table->entries().size(),
                "what is read can be written and read");
  for (size_t i = 0; i < table->entries().size(); ++i) {
    const TokenTable::Entry& one = table->entries()[i];
    const TokenTable::Entry& other = again->entries()[i];
    fuzz::Require(one.name == other.name && one.roles == other.roles && one.digest == other.digest,
                  "and is the same");
  }
  return 0;
}
