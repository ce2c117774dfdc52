// A server's answers, as a client reads them.
//
// Input: which message, two bytes that say how it is cut into pieces (fuzz_input.h), then the
// message.
#include "client/cpp/messages.h"
#include "client/cpp/session_answer.h"
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

void CheckSession(const Fragments& bytes) {
  client::SessionMessage message;
  const absl::Status status = client::ReadSessionMessage(bytes, message);
  if (!status.ok()) return Check(absl::StatusOr<client::SessionMessage>(status));
  Require(!message.answers.empty(), "an answer at least");
  for (const client::SessionAnswer& answer : message.answers) {
    Require(answer.status.ok() != answer.message.has_error(), "an error is a status");
    for (const Fragments& entry : answer.raw) {
      std::string copy(entry.size_bytes(), '\0');
      entry.CopyTo(reinterpret_cast<std::byte*>(copy.data()), 0, copy.size());
    }
  }
}

void Read(uint8_t message, const Fragments& bytes) {
  switch (message % 8) {
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
    default:
      return CheckSession(bytes);
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
