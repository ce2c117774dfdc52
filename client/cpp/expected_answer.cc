#include "client/cpp/expected_answer.h"

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "client/cpp/read_message.h"
#include "google/protobuf/descriptor.h"

namespace opserve::client {
namespace {

// The results of a command that has one answer.
v1::SessionResponse::AnswerCase ResultsOf(v1::SessionRequest::CommandCase command) {
  switch (command) {
    case v1::SessionRequest::kQueryEvent:
      return v1::SessionResponse::kEvent;
    case v1::SessionRequest::kQueryStream:
      return v1::SessionResponse::kStream;
    case v1::SessionRequest::kQueryElapsedTime:
      return v1::SessionResponse::kElapsedTime;
    case v1::SessionRequest::kQueryMemory:
      return v1::SessionResponse::kMemory;
    case v1::SessionRequest::kGetWorkspaceSize:
      return v1::SessionResponse::kExecutor;
    case v1::SessionRequest::kInlineExecute:
      return v1::SessionResponse::kOutputs;
    default:
      return v1::SessionResponse::ANSWER_NOT_SET;
  }
}

bool HasChunks(const ExpectedAnswer& expected) {
  return expected.command == v1::SessionRequest::kDownload ||
         expected.command == v1::SessionRequest::kChunkedExecute ||
         (expected.command == v1::SessionRequest::kExecute && expected.sends_outputs);
}

// "chunk"; "nothing".
std::string NameOf(v1::SessionResponse::AnswerCase results) {
  const auto* field = v1::SessionResponse::descriptor()->FindFieldByNumber(results);
  return results == v1::SessionResponse::ANSWER_NOT_SET || field == nullptr ? "nothing"
                                                                            : field->name();
}

absl::Status Unexpected(const SessionAnswer& answer, std::string_view want, std::string_view got) {
  return BadAnswer(kSessionAnswer, absl::StrCat("the answer to command ", answer.message.id()),
                   want, got);
}

absl::Status CheckError(const SessionAnswer& answer) {
  if (!answer.last) return Unexpected(answer, "nothing behind an error", "more");
  if (answer.message.answer_case() != v1::SessionResponse::ANSWER_NOT_SET || !answer.raw.empty())
    return Unexpected(answer, "results or an error", "both");
  return absl::OkStatus();
}

// Chunks, and in front of those of a ChunkedExecute what they are of. The last answer may be empty.
absl::Status CheckPart(const SessionAnswer& answer, const ExpectedAnswer& expected) {
  const v1::SessionResponse::AnswerCase results = answer.message.answer_case();
  const bool is_chunk = results == v1::SessionResponse::kChunk;
  const bool describes = results == v1::SessionResponse::kOutputs &&
                         expected.command == v1::SessionRequest::kChunkedExecute;
  const bool is_end = results == v1::SessionResponse::ANSWER_NOT_SET && answer.last;
  if (!is_chunk && !describes && !is_end) return Unexpected(answer, "chunk", NameOf(results));
  if (answer.raw.size() != (is_chunk ? 1U : 0U))
    return Unexpected(answer, is_chunk ? "one entry of bytes" : "no bytes",
                      absl::StrCat(answer.raw.size(), " entries"));
  return absl::OkStatus();
}

absl::Status CheckWhole(const SessionAnswer& answer, const ExpectedAnswer& expected) {
  const v1::SessionResponse::AnswerCase results = answer.message.answer_case();
  if (!answer.last) return Unexpected(answer, "one answer", "more");
  if (results != ResultsOf(expected.command))
    return Unexpected(answer, NameOf(ResultsOf(expected.command)), NameOf(results));
  if (!answer.raw.empty() && results != v1::SessionResponse::kOutputs)
    return Unexpected(answer, "no bytes", absl::StrCat(answer.raw.size(), " entries"));
  switch (results) {
    case v1::SessionResponse::kElapsedTime:
      return CheckCounts(answer.message.elapsed_time());
    case v1::SessionResponse::kMemory:
      return CheckCounts(answer.message.memory());
    case v1::SessionResponse::kExecutor:
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
