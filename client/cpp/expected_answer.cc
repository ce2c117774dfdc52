#include "client/cpp/expected_answer.h"

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "client/cpp/read_message.h"
#include "google/protobuf/descriptor.h"

namespace opserve::client {
namespace {

using Answer = v1::SessionResponse;
using Command = v1::SessionRequest;

constexpr std::string_view kAnswer = "SessionResponse";

// The results of a command that has one answer.
Answer::AnswerCase ResultsOf(Command::CommandCase command) {
  switch (command) {
    case Command::kQueryEvent:
      return Answer::kEvent;
    case Command::kQueryStream:
      return Answer::kStream;
    case Command::kQueryElapsedTime:
      return Answer::kElapsedTime;
    case Command::kQueryMemory:
      return Answer::kMemory;
    case Command::kGetWorkspaceSize:
      return Answer::kExecutor;
    case Command::kInlineExecute:
      return Answer::kOutputs;
    default:
      return Answer::ANSWER_NOT_SET;
  }
}

bool HasChunks(const ExpectedAnswer& expected) {
  return expected.command == Command::kDownload || expected.command == Command::kChunkedExecute ||
         (expected.command == Command::kExecute && expected.sends_outputs);
}

// "chunk"; "nothing".
std::string NameOf(Answer::AnswerCase results) {
  const auto* field = Answer::descriptor()->FindFieldByNumber(results);
  return results == Answer::ANSWER_NOT_SET || field == nullptr ? "nothing" : field->name();
}

absl::Status Unexpected(const SessionAnswer& answer, std::string_view want, std::string_view got) {
  return BadAnswer(kAnswer, absl::StrCat("the answer to command ", answer.message.id()), want, got);
}

absl::Status CheckError(const SessionAnswer& answer) {
  if (!answer.last) return Unexpected(answer, "nothing behind an error", "more");
  if (answer.message.answer_case() != Answer::ANSWER_NOT_SET || !answer.raw.empty())
    return Unexpected(answer, "results or an error", "both");
  return absl::OkStatus();
}

// Chunks, and in front of those of a ChunkedExecute what they are of. The last answer may be empty.
absl::Status CheckPart(const SessionAnswer& answer, const ExpectedAnswer& expected) {
  const Answer::AnswerCase results = answer.message.answer_case();
  const bool is_chunk = results == Answer::kChunk;
  const bool describes =
      results == Answer::kOutputs && expected.command == Command::kChunkedExecute;
  const bool is_end = results == Answer::ANSWER_NOT_SET && answer.last;
  if (!is_chunk && !describes && !is_end) return Unexpected(answer, "chunk", NameOf(results));
  if (answer.raw.size() != (is_chunk ? 1U : 0U))
    return Unexpected(answer, is_chunk ? "one entry of bytes" : "no bytes",
                      absl::StrCat(answer.raw.size(), " entries"));
  return absl::OkStatus();
}

absl::Status CheckWhole(const SessionAnswer& answer, const ExpectedAnswer& expected) {
  const Answer::AnswerCase results = answer.message.answer_case();
  if (!answer.last) return Unexpected(answer, "one answer", "more");
  if (results != ResultsOf(expected.command))
    return Unexpected(answer, NameOf(ResultsOf(expected.command)), NameOf(results));
  if (!answer.raw.empty() && results != Answer::kOutputs)
    return Unexpected(answer, "no bytes", absl::StrCat(answer.raw.size(), " entries"));
  switch (results) {
    case Answer::kElapsedTime:
      return CheckCounts(answer.message.elapsed_time());
    case Answer::kMemory:
      return CheckCounts(answer.message.memory());
    case Answer::kExecutor:
      return CheckCounts(answer.message.executor());
    default:
      return absl::OkStatus();
  }
}

}  // namespace

ExpectedAnswer ExpectedOf(const v1::SessionRequest& command) {
  return {command.command_case(), command.has_execute() && command.execute().send_outputs()};
}

absl::Status CheckAnswer(const SessionAnswer& answer, const ExpectedAnswer& expected) {
  if (!answer.status.ok()) return CheckError(answer);
  return HasChunks(expected) ? CheckPart(answer, expected) : CheckWhole(answer, expected);
}

}  // namespace opserve::client
