#include "server/calls/infer_plan.h"

#include <string>
#include <utility>

#include "core/base/status_macros.h"
#include "inference/open_inference.pb.h"
#include "server/codec/message_scanner.h"
#include "server/codec/output_codec.h"
#include "server/open_inference/infer_request.h"

namespace opserve::server {
namespace {

// Before the header in a plan's key: neither a message nor a session's key begins so.
constexpr char kKeyMark = 7;

}  // namespace

absl::StatusOr<std::shared_ptr<const PlannedCall>> FindInferPlan(const Engine& engine,
                                                                 PlanCache& plans,
                                                                 std::string_view header,
                                                                 std::span<const Fragments> raw) {
  std::string key(1, kKeyMark);
  key.append(header);
  std::shared_ptr<const PlannedCall> known = plans.Find(key, raw.size());
  if (known != nullptr) return known;
  inference::ModelInferRequest request;
  OPSERVE_RETURN_IF_ERROR(ParseHeader(header, request));
  OPSERVE_ASSIGN_OR_RETURN(const DecodedInfer decoded, DecodeInferRequest(request, raw.size()));
  OPSERVE_ASSIGN_OR_RETURN(std::shared_ptr<const PlannedCall> planned,
                           PlannedCall::MakeInfer(engine, decoded, raw));
  plans.Put(std::move(key), raw.size(), planned);
  return planned;
}

absl::Status CheckAnswer(const OneShot& shot, size_t bytes, int64_t max_message_bytes) {
  if (bytes <= static_cast<size_t>(max_message_bytes)) return absl::OkStatus();
  // A shape without bytes behind it is what it is, not a large answer.
  OPSERVE_RETURN_IF_ERROR(CheckStorages(*shot.plan, shot.storages, shot.output_storages));
  return CheckAnswerSize(shot.plan->call, bytes, max_message_bytes);
}

}  // namespace opserve::server
