// The token file: what it may say, and whom it lets in.
#include "server/identity/token_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/support/status_matchers.h"

namespace opserve::server {
namespace {

using ::opserve::testing::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Of "right", by sha256sum.
constexpr char kRight[] = "sha256:27042f4e6eca7d0b2a7ee4026df2ecfa51d3339e6d122aa099118ecd8563bad9";

std::string Zeros() { return absl::StrCat("sha256:", std::string(64, '0')); }

void ExpectRefused(const std::string& text, const std::string& part) {
  const absl::StatusOr<TokenTable> table = TokenTable::Parse(text);
  ASSERT_FALSE(table.ok()) << text;
  EXPECT_THAT(std::string(table.status().message()), HasSubstr(part)) << text;
  EXPECT_THAT(std::string(table.status().message()), HasSubstr("--token-file")) << text;
}

TEST(TokenTableTest, ReadsLines) {
  const auto table = TokenTable::Parse(absl::StrCat("# who\r\n\n  a.b_c-d@e \t execute,observe  ",
                                                    kRight, "\r\nz discover ", Zeros()));
  ASSERT_THAT(table, IsOk());
  ASSERT_EQ(table->entries().size(), 2u);
  const TokenTable::Entry& first = table->entries()[0];
  EXPECT_EQ(first.name, "a.b_c-d@e");
  EXPECT_THAT(first.roles, ElementsAre(false, true, false, true));
  EXPECT_EQ(first.RoleNames(), "execute,observe");
  EXPECT_TRUE(table->entries()[1].Has(Role::kDiscover));
}

TEST(TokenTableTest, FindsATokenByItsHash) {
  const auto table =
      TokenTable::Parse(absl::StrCat("z session ", Zeros(), "\nme session ", kRight));
  ASSERT_THAT(table, IsOk());
  ASSERT_NE(table->Find("right"), nullptr);
  EXPECT_EQ(table->Find("right")->name, "me");
  for (const char* token : {"", "righ", "rightt", "Right", kRight, kRight + 7})
    EXPECT_EQ(table->Find(token), nullptr) << token;
}

TEST(TokenTableTest, HashesMayBeInCapitals) {
  std::string line = absl::StrCat("me session ", kRight);
  for (size_t i = line.find(':'); i < line.size(); ++i)
    line[i] = static_cast<char>(std::toupper(static_cast<unsigned char>(line[i])));
  const auto table = TokenTable::Parse(line);
  ASSERT_THAT(table, IsOk());
  EXPECT_NE(table->Find("right"), nullptr);
}

TEST(TokenTableTest, SaysWhatIsWrongWithALine) {
  ExpectRefused("", "want one token at least, got none");
  ExpectRefused("# nothing\n", "want one token at least");
  ExpectRefused("\nme execute\n", "want in line 2 name role[,role] sha256:HEX");
  ExpectRefused(absl::StrCat("me execute ", kRight, " more"), "want in line 1 name role");
  ExpectRefused(absl::StrCat("m\xc3\xbc execute ", kRight), "a name of at most 64");
  ExpectRefused(absl::StrCat(std::string(65, 'a'), " execute ", kRight), "a name of at most 64");
  for (const char* roles :
       {"admin", "Execute", "execute,", ",", "execute,,observe", "execute;observe"})
    ExpectRefused(absl::StrCat("me ", roles, " ", kRight), "of the roles discover, execute");
  const std::string right = kRight;
  for (const std::string& digest :
       {right.substr(7), right.substr(0, 70), right + "0", "md5:" + right.substr(7),
        right.substr(0, 70) + "g", std::string("sha256:")})
    ExpectRefused("me execute " + digest, "64 hexadecimal digits");
  ExpectRefused(absl::StrCat("a execute ", kRight, "\nb observe ", kRight),
                "want in line 2 a token that no line before it has");
}

TEST(TokenTableTest, IsBounded) {
  std::string text;
  const auto add = [&text](size_t number) {
    absl::StrAppend(&text, "me execute sha256:", absl::Hex(number, absl::kZeroPad16),
                    std::string(48, '0'), "\n");
  };
  for (size_t i = 0; i < TokenTable::kMaxTokens; ++i) add(i);
  EXPECT_THAT(TokenTable::Parse(text), IsOk());
  add(TokenTable::kMaxTokens);
  ExpectRefused(text, "want in line 1001 at most 1000 tokens");
}

}  // namespace
}  // namespace opserve::server
