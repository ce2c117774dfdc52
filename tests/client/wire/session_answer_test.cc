// What comes on a session, as answers with the bytes that they use.
#include "client/cpp/wire/session_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/strings.h"
#include "tests/support/status_matchers.h"

namespace opserve::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Fragments PiecesOf(const std::string& text) { return Fragments(std::as_bytes(std::span(text))); }

std::vector<std::string> Entries(const SessionAnswer& answer) {
  std::vector<std::string> entries;
  for (const Fragments& entry : answer.raw) {
    entries.emplace_back(entry.size_bytes(), '\0');
    entry.CopyTo(reinterpret_cast<std::byte*>(entries.back().data()), 0, entry.size_bytes());
  }
  return entries;
}

// A chunk, nothing, and two outputs, which use three entries.
v1::SessionResponse ThreeAnswers() {
  v1::SessionResponse message;
  for (uint64_t id = 1; id <= 3; ++id) message.add_answers()->set_id(id);
  message.mutable_answers(0)->set_more(true);
  message.mutable_answers(0)->mutable_chunk()->set_raw_index(2);
  v1::ExecuteOutputs& outputs = *message.mutable_answers(2)->mutable_outputs();
  outputs.add_outputs()->set_raw_index(1);
  outputs.add_outputs()->set_raw_index(0);
  for (const char* entry : {"zero", "one", "two"}) message.add_raw(entry);
  return message;
}

TEST(SessionAnswerTest, EachHasTheEntriesThatItUses) {
  const std::string bytes = ThreeAnswers().SerializeAsString();
  const absl::StatusOr<std::vector<SessionAnswer>> answers = ReadSessionAnswers(PiecesOf(bytes));
  ASSERT_THAT(answers, testing::IsOk());
  ASSERT_EQ(answers->size(), 3u);
  const SessionAnswer& chunk = answers->at(0);
  EXPECT_EQ(chunk.message.id(), 1u);
  EXPECT_FALSE(chunk.last);
  EXPECT_EQ(chunk.message.chunk().raw_index(), 0u);
  EXPECT_THAT(Entries(chunk), ElementsAre("two"));
  EXPECT_TRUE(answers->at(1).last);
  EXPECT_THAT(Entries(answers->at(1)), IsEmpty());
  const SessionAnswer& outputs = answers->at(2);
  EXPECT_EQ(outputs.message.outputs().outputs(0).raw_index(), 0u);
  EXPECT_EQ(outputs.message.outputs().outputs(1).raw_index(), 1u);
  EXPECT_THAT(Entries(outputs), ElementsAre("one", "zero"));
}

// Empty where it is taken.
std::string Refusal(const v1::SessionResponse& message) {
  const std::string bytes = message.SerializeAsString();
  const absl::Status status = ReadSessionAnswers(PiecesOf(bytes)).status();
  EXPECT_TRUE(status.ok() || absl::IsInternal(status)) << status;
  return std::string(ToStd(status.message()));
}

TEST(SessionAnswerTest, EntriesAreThereAndOneAnswersEach) {
  v1::SessionResponse message = ThreeAnswers();
  EXPECT_EQ(Refusal(message), "");
  message.mutable_answers(0)->mutable_chunk()->set_raw_index(3);
  EXPECT_THAT(Refusal(message), HasSubstr("raw_index: want one below 3 that is its own, got 3"));
  message.mutable_answers(0)->mutable_chunk()->set_raw_index(1);
  EXPECT_THAT(Refusal(message), HasSubstr("raw_index: want one below 3 that is its own, got 1"));
  message.mutable_answers(0)->clear_chunk();
  EXPECT_THAT(Refusal(message),
              HasSubstr("raw: want entries that answers use, got entry 2, which none uses"));
}

TEST(SessionAnswerTest, AMessageMayBeEmpty) { EXPECT_EQ(Refusal({}), ""); }

TEST(SessionAnswerTest, TooManyEntriesAreNotRead) {
  v1::SessionResponse message;
  for (int i = 0; i < 5000; ++i) message.add_raw("");
  EXPECT_THAT(Refusal(message), HasSubstr("raw: want at most 4096 entries, got more"));
}

TEST(SessionAnswerTest, ErrorsHaveACode) {
  v1::SessionResponse message;
  message.add_answers()->mutable_error()->set_code(3);
  message.mutable_answers(0)->mutable_error()->set_message("no");
  message.add_answers()->mutable_error();
  const std::string bytes = message.SerializeAsString();
  const absl::StatusOr<std::vector<SessionAnswer>> answers = ReadSessionAnswers(PiecesOf(bytes));
  ASSERT_THAT(answers, testing::IsOk());
  EXPECT_EQ(answers->at(0).status, absl::InvalidArgumentError("no"));
  EXPECT_THAT(ToStd(answers->at(1).status.message()), HasSubstr("want a code of an error, got OK"));
}

}  // namespace
}  // namespace opserve::client
