// Bodies of infer requests by HTTP, the whole way down and up without a network: JSON, the call
// that it becomes, plan, run, answer. What the reader accepts another reader of JSON accepts, too.
//
// Input: a byte that says how many bytes at the end are binary data (255: there is no header that
// says so), then the body.

#include <nlohmann/json.hpp>

#include "core/base/status_macros.h"
#include "server/calls/infer_plan.h"
#include "server/rest/json_reader.h"
#include "server/rest/rest_answer.h"
#include "server/rest/rest_path.h"
#include "server/rest/rest_request.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/separated.h"
#include "tests/fuzz/small_engine.h"

namespace opserve::fuzz {
namespace {

using server::PlannedCall;
using server::RestRequest;

constexpr int64_t kMaxTensorBytes = 1 << 20;

void CheckJson(std::string_view json, const RestRequest& request) {
  const auto tree = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  Require(!tree.is_discarded(), "another reader reads it");
  Require(tree.value("id", std::string()) == request.id, "the id");
  Require(request.raw.size() <= tree["inputs"].size(), "bytes are an input's");
  if (!server::MentionsSharedMemory(request.header))
    Require(tree["inputs"].size() == request.raw.size(), "each input has its bytes");
  CheckSeparated(request.header);
}

void CheckAnswer(const server::RestAnswer& answer, size_t most, const RestRequest& request) {
  size_t bytes = answer.json.size();
  for (const PooledBuffer& entry : answer.binary) bytes += entry.size();
  Require(bytes <= most, "the answer is no longer than foretold");
  const auto tree = nlohmann::json::parse(answer.json, nullptr, /*allow_exceptions=*/false);
  Require(!tree.is_discarded(), "the answer is JSON");
  Require(tree.value("id", std::string()) == request.id, "the id comes back");
}

absl::Status Infer(std::string_view body, std::optional<size_t> json_bytes) {
  int64_t charged = 0;
  OPSERVE_ASSIGN_OR_RETURN(
      RestRequest request,
      server::ReadRestRequest("SmoothL1LossBackward", "", body, json_bytes,
                              {.max_tensor_bytes = kMaxTensorBytes}, [&charged](int64_t bytes) {
                                charged += bytes;
                                return absl::OkStatus();
                              }));
  Require(charged <= kMaxTensorBytes, "tensors are bounded");
  CheckJson(body.substr(0, json_bytes.value_or(body.size())), request);
  server::PlanCache plans;
  OPSERVE_ASSIGN_OR_RETURN(
      const std::shared_ptr<const PlannedCall> planned,
      server::FindInferPlan(SmallEngine(), plans, request.header, request.raw));
  OneShot shot;
  server::HeldRegions held;
  OPSERVE_RETURN_IF_ERROR(planned->Assemble(request.raw, nullptr, shot, held));
  const OpCall& call = shot.plan->call;
  const server::InferForm& form = planned->infer_form();
  const size_t most = server::MaxRestAnswerBytes(call, form, request);
  if (!IsQuick(call) || most > size_t{kMaxTensorBytes}) return absl::OkStatus();
  OPSERVE_ASSIGN_OR_RETURN(Outputs outputs, RunToEnd(std::move(shot)));
  CheckAnswer(server::WriteRestAnswer(planned->plan()->call, form, request, std::move(outputs)),
              most, request);
  return absl::OkStatus();
}

// A text that is written is one that is read.
void CheckText(std::string_view bytes) {
  std::string json;
  server::AppendJsonString(bytes, json);
  server::JsonReader reader(json);
  std::string text;
  Require(reader.ReadString(text) && reader.End(), "a text that was written");
  Require(text.size() >= bytes.size(), "none of it is lost");
  (void)server::ParseRestPath(bytes);
}

}  // namespace
}  // namespace opserve::fuzz

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = opserve::fuzz;
  fuzz::Input input(data, size);
  const uint8_t binary = input.TakeByte();
  const std::string body(input.rest());
  std::optional<size_t> json_bytes;
  if (binary != 255) json_bytes = body.size() - std::min<size_t>(binary, body.size());
  const absl::Status status = fuzz::Infer(body, json_bytes);
  if (!status.ok()) fuzz::RequireDetail(status);
  fuzz::CheckText(body);
  fuzz::RequireNothingLent();
  return 0;
}
