// A server's answers, as a client reads them.
//
// Input: which message (from 9 on: an answer of a session, and the command that it is to), two
// bytes that say how it is cut into pieces (fuzz_input.h), then the message.
#include "client/cpp/session/transfer.h"
#include "client/cpp/wire/answered_outputs.h"
#include "client/cpp/wire/expected_answer.h"
#include "client/cpp/wire/messages.h"
#include "client/cpp/wire/session_answer.h"
#include "tests/fuzz/fuzz_input.h"

namespace opserve::fuzz {
namespace {

// OK, or INTERNAL with what is wrong.
template <typename T>
void Check(const absl::StatusOr<T>& answer) {
  if (answer.ok()) return;
  Require(answer.status().code() == absl::StatusCode::kInternal, "a bad answer is INTERNAL");
  Require(!answer.status().message().empty(), "a bad answer says why");
}

constexpr size_t kCalls = 2;  // of the batch that is answered

void CheckResult(const absl::StatusOr<client::ExecuteResult>& result) {
  Check(result);
  if (!result.ok()) return;
  for (const client::NamedTensor& output : result->outputs) {
    const client::Tensor& tensor = output.tensor;
    Require(static_cast<size_t>(tensor.desc().size_bytes()) == tensor.bytes().size(), "sizes");
    const std::vector<double> values = tensor.ToDoubles();
    Require(values.size() == static_cast<size_t>(tensor.num_elements()), "every element is there");
    Require(tensor.View().storage.data() == tensor.bytes().data(), "a view is of the tensor");
  }
}

void CheckBatch(const absl::StatusOr<client::BatchResults>& results) {
  Check(results);
  if (!results.ok()) return;
  for (const absl::StatusOr<client::ExecuteResult>& result : *results)
    if (result.ok()) CheckResult(result);
}

client::RawEntries Copied(const std::vector<Fragments>& entries) {
  client::RawEntries raw;
  for (const Fragments& entry : entries) {
    const std::shared_ptr<std::byte> bytes = client::AllocateTensorBytes(entry.size_bytes());
    entry.CopyTo(bytes.get(), 0, entry.size_bytes());
    raw.Add({bytes, entry.size_bytes()});
  }
  return raw;
}

void CheckChunk(client::SessionAnswer& answer) {
  Require(answer.raw.size() == 1, "a chunk has an entry");
  constexpr int64_t kBytes = 16;
  client::Inflow inflow(kBytes);
  if (!inflow.Accept(answer).ok()) return Check(absl::StatusOr<bool>(answer.objection));
  const auto take = [](int64_t offset, std::span<const std::byte> bytes) {
    Require(offset >= 0 && offset + static_cast<int64_t>(bytes.size()) <= kBytes, "inside");
    return absl::OkStatus();
  };
  Require(client::Inflow::HandOn(answer, take).ok(), "an accepted chunk is handed on");
}

// What the command's handler makes of it.
void CheckResults(client::SessionAnswer& answer) {
  switch (answer.message.answer_case()) {
    case v1::Answer::kInfo:
      return Check(client::ReadSessionInfo(answer.message.info()));
    case v1::Answer::kExecutor:
      Require(answer.message.executor().workspace_bytes() >= 0, "a size");
      return Check(
          client::ReadPlannedOutputs("ExecutorInfo", answer.message.executor().outputs(), {}));
    case v1::Answer::kOutputs: {
      client::RawEntries raw = Copied(answer.raw);
      return CheckResult(
          client::ReadOutputs("ExecuteOutputs", answer.message.outputs().outputs(), raw, {}));
    }
    case v1::Answer::kChunk:
      return CheckChunk(answer);
    default:
      return;
  }
}

void CheckAnswers(std::vector<client::SessionAnswer>& answers, uint8_t kind) {
  const client::ExpectedAnswer expected{static_cast<v1::Command::CommandCase>(kind % 32),
                                        kind >= 32};
  for (client::SessionAnswer& answer : answers) {
    const absl::Status sound = client::CheckAnswer(answer, expected);
    if (!sound.ok()) return Check(absl::StatusOr<bool>(sound));
    if (answer.status.ok()) CheckResults(answer);
  }
}

void CheckSession(const Fragments& bytes, uint8_t kind) {
  absl::StatusOr<std::vector<client::SessionAnswer>> answers = client::ReadSessionAnswers(bytes);
  Check(answers);
  if (!answers.ok()) return;
  for (const client::SessionAnswer& answer : *answers) {
    Require(answer.status.ok() != answer.message.has_error(), "an error is a status");
    for (const Fragments& entry : answer.raw) {
      std::string copy(entry.size_bytes(), '\0');
      entry.CopyTo(reinterpret_cast<std::byte*>(copy.data()), 0, copy.size());
    }
  }
  CheckAnswers(*answers, kind);
}

void CheckRegion(const Fragments& bytes) {
  constexpr int64_t kSize = 8192;
  std::string packet(bytes.size_bytes(), '\0');
  bytes.CopyTo(reinterpret_cast<std::byte*>(packet.data()), 0, packet.size());
  const absl::StatusOr<std::string> id = client::ReadRegionId(packet, kSize);
  Require(!id.ok() || id->size() == 16, "an id has 16 bytes");
}

void Read(uint8_t message, const Fragments& bytes) {
  switch (message) {
    case 0:
      return CheckResult(client::ReadExecuteResult(bytes));
    case 1:
      return Check(client::ReadServerInfo(bytes));
    case 2:
      return Check(client::ReadOperators(bytes));
    case 3:
      return Check(client::ReadDevices(bytes));
    case 4:
      return Check(client::ReadPlan(bytes));
    case 5:
      return CheckBatch(client::ReadBatchResults(bytes, kCalls));
    case 6:
      return Check(client::ReadStatistics(bytes));
    case 8:
      return CheckRegion(bytes);
    default:
      return CheckSession(bytes, message);
  }
}

}  // namespace
}  // namespace opserve::fuzz

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = opserve::fuzz;
  fuzz::Input input(data, size);
  const uint8_t message = input.TakeByte();
  const uint8_t longest = input.TakeByte();
  const uint8_t seed = input.TakeByte();
  const fuzz::Pieces pieces(input.rest(), longest, seed);
  opserve::Fragments fragments;
  for (const auto& piece : pieces.spans()) fragments.Append(piece);
  fuzz::Read(message, fragments);
  return 0;
}
