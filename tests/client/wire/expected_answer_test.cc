// Every kind of answer, to every kind of command.
#include "client/cpp/wire/expected_answer.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "core/base/strings.h"
#include "tests/support/status_matchers.h"

namespace opserve::client {
namespace {

using ::testing::HasSubstr;
using Answer = v1::Answer;
using Command = v1::Command;

// What has results, and of which kind.
const std::map<Command::CommandCase, Answer::AnswerCase>& Results() {
  static const auto& results = *new std::map<Command::CommandCase, Answer::AnswerCase>{
      {Command::kQueryEvent, Answer::kEvent},
      {Command::kQueryStream, Answer::kStream},
      {Command::kQueryElapsedTime, Answer::kElapsedTime},
      {Command::kQueryMemory, Answer::kMemory},
      {Command::kCreateExecutor, Answer::kExecutor},
      {Command::kExecute, Answer::kOutputs}};
  return results;
}

bool HasChunks(const ExpectedAnswer& expected) {
  return expected.command == Command::kDownload || expected.command == Command::kExecuteChunked ||
         expected.sends_outputs;
}

SessionAnswer Of(Answer::AnswerCase results) {
  SessionAnswer answer;
  answer.message.set_id(7);
  const auto* field = Answer::descriptor()->FindFieldByNumber(results);
  if (results != Answer::ANSWER_NOT_SET)
    answer.message.GetReflection()->MutableMessage(&answer.message, field);
  if (results == Answer::kChunk) answer.raw.emplace_back();
  return answer;
}

template <typename Check>
void ForEveryPair(Check check) {
  for (int command = Command::kCreateContext; command <= Command::kCancel; ++command) {
    for (int results = Answer::kInfo; results <= Answer::kChunk; ++results) {
      check(ExpectedAnswer{static_cast<Command::CommandCase>(command)},
            static_cast<Answer::AnswerCase>(results));
    }
    check(ExpectedAnswer{static_cast<Command::CommandCase>(command)}, Answer::ANSWER_NOT_SET);
  }
}

TEST(ExpectedAnswerTest, ResultsAreThoseOfTheCommand) {
  ForEveryPair([](const ExpectedAnswer& expected, Answer::AnswerCase results) {
    if (HasChunks(expected)) return;
    const auto found = Results().find(expected.command);
    const Answer::AnswerCase want =
        found == Results().end() ? Answer::ANSWER_NOT_SET : found->second;
    EXPECT_EQ(CheckAnswer(Of(results), expected).ok(), results == want)
        << expected.command << ", " << results;
  });
}

TEST(ExpectedAnswerTest, ThereIsOneAnswerWhereThereAreNoChunks) {
  ForEveryPair([](const ExpectedAnswer& expected, Answer::AnswerCase results) {
    SessionAnswer answer = Of(results);
    answer.last = false;
    const bool fits = results == Answer::kChunk ||
                      (results == Answer::kOutputs && expected.command == Command::kExecuteChunked);
    EXPECT_EQ(CheckAnswer(answer, expected).ok(), HasChunks(expected) && fits)
        << expected.command << ", " << results;
  });
}

TEST(ExpectedAnswerTest, AnErrorIsAllThereIs) {
  ForEveryPair([](const ExpectedAnswer& expected, Answer::AnswerCase results) {
    SessionAnswer answer = Of(results);
    answer.status = absl::InvalidArgumentError("no");
    EXPECT_EQ(CheckAnswer(answer, expected).ok(), results == Answer::ANSWER_NOT_SET);
    answer.last = false;
    EXPECT_FALSE(CheckAnswer(answer, expected).ok());
  });
}

TEST(ExpectedAnswerTest, ExecutionsSendChunksWhereTheyWereAskedTo) {
  Command command;
  command.mutable_run_executor();
  EXPECT_FALSE(CheckAnswer(Of(Answer::kChunk), ExpectedOf(command)).ok());
  EXPECT_THAT(CheckAnswer(Of(Answer::ANSWER_NOT_SET), ExpectedOf(command)), testing::IsOk());
  command.mutable_run_executor()->set_send_outputs(true);
  EXPECT_THAT(CheckAnswer(Of(Answer::kChunk), ExpectedOf(command)), testing::IsOk());
  EXPECT_THAT(CheckAnswer(Of(Answer::ANSWER_NOT_SET), ExpectedOf(command)), testing::IsOk());
  EXPECT_FALSE(CheckAnswer(Of(Answer::kOutputs), ExpectedOf(command)).ok());
}

TEST(ExpectedAnswerTest, BytesBelongToChunksAndOutputs) {
  ForEveryPair([](const ExpectedAnswer& expected, Answer::AnswerCase results) {
    SessionAnswer answer = Of(results);
    answer.raw.emplace_back();
    if (results == Answer::kOutputs && expected.command == Command::kExecute) return;
    EXPECT_FALSE(CheckAnswer(answer, expected).ok()) << expected.command << ", " << results;
  });
}

TEST(ExpectedAnswerTest, NumbersAreCounts) {
  SessionAnswer memory = Of(Answer::kMemory);
  memory.message.mutable_memory()->mutable_device()->set_used_bytes(-1);
  EXPECT_THAT(ToStd(CheckAnswer(memory, {Command::kQueryMemory}).message()),
              HasSubstr("used_bytes: want a number >= 0, got -1"));
  SessionAnswer plan = Of(Answer::kExecutor);
  plan.message.mutable_executor()->set_workspace_bytes(-64);
  EXPECT_FALSE(CheckAnswer(plan, {Command::kCreateExecutor}).ok());
  SessionAnswer elapsed = Of(Answer::kElapsedTime);
  elapsed.message.mutable_elapsed_time()->set_elapsed_ns(-1);
  EXPECT_FALSE(CheckAnswer(elapsed, {Command::kQueryElapsedTime}).ok());
}

}  // namespace
}  // namespace opserve::client
