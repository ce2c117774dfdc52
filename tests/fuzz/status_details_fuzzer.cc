// The details of a failed call, as a client reads them.
//
// Input: the status code, then the details.
#include "client/cpp/wire/status_details.h"
#include "tests/fuzz/fuzz_input.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = opserve::fuzz;
  fuzz::Input input(data, size);
  const int code = static_cast<int8_t>(input.TakeByte());
  const std::string details(input.rest());
  const absl::Status status =
      opserve::client::StatusFromWire(code, "what the server said", details);
  const bool is_code = code >= 0 && code <= 16;
  fuzz::Require(status.raw_code() == (is_code ? code : 2), "the code is the server's, or UNKNOWN");
  if (status.ok()) return 0;
  fuzz::Require(status.message() == "what the server said", "the message is the server's");
  const std::optional<opserve::ErrorDetail> detail = opserve::GetErrorDetail(status);
  if (!detail.has_value()) return 0;
  // A copy made of the parts has the same parts.
  const std::optional<opserve::ErrorDetail> copy =
      opserve::GetErrorDetail(opserve::MakeError(*detail));
  fuzz::Require(copy.has_value() && copy->got == detail->got && copy->want == detail->want &&
                    copy->parameter == detail->parameter && copy->op == detail->op,
                "details survive");
  return 0;
}
