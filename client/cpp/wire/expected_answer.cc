#include "client/cpp/wire/expected_answer.h"

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "client/cpp/wire/read_message.h"
#include "google/protobuf/descriptor.h"

namespace opserve::client {
namespace {

// The results of a command that has one answer.
v1::Answer::AnswerCase ResultsOf(v1::Command::CommandCase command) {
  switch (command) {
    case v1::Command::kQueryEvent:
      return v1::Answer::kEvent;
    case v1::Command::kQueryStream:
      return v1::Answer::kStream;
    case v1::Command::kQueryElapsedTime:
      return v1::Answer::kElapsedTime;
    case v1::Command::kQueryMemory:
      return v1::Answer::kMemory;
    case v1::Command::kCreateExecutor:
      return v1::Answer::kExecutor;
    case v1::Command::kExecute:
      return v1::Answer::kOutputs;
    default:
      return v1::Answer::ANSWER_NOT_SET;
  }
}

bool HasChunks(const ExpectedAnswer& expected) {
  return expected.command == v1::Command::kDownload ||
         expected.command == v1::Command::kExecuteChunked ||
         (expected.command == v1::Command::kRunExecutor && expected.sends_outputs);
}

// "chunk"; "nothing".
std::string NameOf(v1::Answer::AnswerCase results) {
  const auto* field = v1::Answer::descriptor()->FindFieldByNumber(results);
  return results == v1::Answer::ANSWER_NOT_SET || field == nullptr ? "nothing" : field->name();
}

absl::Status Unexpected(const SessionAnswer& answer, std::string_view want, std::string_view got) {
  return BadAnswer(kSessionAnswer, absl::StrCat("the answer to command ", answer.message.id()),
                   want, got);
}

absl::Status CheckError(const SessionAnswer& answer) {
  if (!answer.last) return Unexpected(answer, "nothing behind an error", "more");
  if (answer.message.answer_case() != v1::Answer::ANSWER_NOT_SET || !answer.raw.empty())
    return Unexpected(answer, "results or an error", "both");
  return absl::OkStatus();
}

// Chunks, and in front of those of an ExecuteChunked what they are of. The last answer may be
// empty.
absl::Status CheckPart(const SessionAnswer& answer, const ExpectedAnswer& expected) {
  const v1::Answer::AnswerCase results = answer.message.answer_case();
  const bool is_chunk = results == v1::Answer::kChunk;
  const bool describes =
      results == v1::Answer::kOutputs && expected.command == v1::Command::kExecuteChunked;
  const bool is_end = results == v1::Answer::ANSWER_NOT_SET && answer.last;
  if (!is_chunk && !describes && !is_end) return Unexpected(answer, "chunk", NameOf(results));
  if (answer.raw.size() != (is_chunk ? 1U : 0U))
    return Unexpected(answer, is_chunk ? "one entry of bytes" : "no bytes",
                      absl::StrCat(answer.raw.size(), " entries"));
  return absl::OkStatus();
}

absl::Status CheckWhole(const SessionAnswer& answer, const ExpectedAnswer& expected) {
  const v1::Answer::AnswerCase results = answer.message.answer_case();
  if (!answer.last) return Unexpected(answer, "one answer", "more");
  if (results != ResultsOf(expected.command))
    return Unexpected(answer, NameOf(ResultsOf(expected.command)), NameOf(results));
  if (!answer.raw.empty() && results != v1::Answer::kOutputs)
    return Unexpected(answer, "no bytes", absl::StrCat(answer.raw.size(), " entries"));
  switch (results) {
    case v1::Answer::kElapsedTime:
      return CheckCounts(answer.message.elapsed_time());
    case v1::Answer::kMemory:
      return CheckCounts(answer.message.memory());
    case v1::Answer::kExecutor:
      return CheckCounts(answer.message.executor());
    default:
      return absl::OkStatus();
  }
}

}  // namespace

ExpectedAnswer ExpectedOf(const v1::Command& command) {
  return {command.command_case(),
          command.has_run_executor() && command.run_executor().send_outputs()};
}

absl::Status CheckAnswer(const SessionAnswer& answer, const ExpectedAnswer& expected) {
  if (!answer.status.ok()) return CheckError(answer);
  return HasChunks(expected) ? CheckPart(answer, expected) : CheckWhole(answer, expected);
}

}  // namespace opserve::client
