#include "server/services/execute_call.h"

#include <memory>
#include <utility>
#include <vector>

#include <grpcpp/server_context.h>

#include "core/base/status_macros.h"
#include "server/plans/planned_call.h"
#include "server/services/call_meter.h"
#include "server/wire/output_codec.h"
#include "server/wire/raw_message.h"
#include "server/wire/shared_codec.h"

namespace opserve::server {
namespace {

// One Execute. Owned by gRPC: lives until OnDone, which follows Finish, which follows the engine's
// `done`.
class ExecuteCall final : public grpc::ServerUnaryReactor {
 public:
  ExecuteCall(const ExecuteContext& with, grpc::CallbackServerContext& context,
              size_t request_bytes, grpc::ByteBuffer& response)
      : with_(with),
        context_(context),
        response_(response),
        meter_(with.counters, Method::kExecute, context, request_bytes) {
    ++with_.executing;
  }
  ~ExecuteCall() override { --with_.executing; }

  void Start(const grpc::ByteBuffer& request) {
    absl::StatusOr<OneShot> shot = Prepare(request);
    if (!shot.ok()) return Finish(meter_.End(shot.status(), 0));
    with_.engine.Submit(*std::move(shot));
  }

 private:
  void OnDone() override { delete this; }
  // What happens here is short: gRPC need not hand it to a thread, which costs an eighth of a small
  // call.
  bool InternalInlineable() override { return true; }

  absl::StatusOr<OneShot> Prepare(const grpc::ByteBuffer& request) {
    OPSERVE_ASSIGN_OR_RETURN(
        message_, ReadSplitMessage(request, v1::ExecuteRequest::kRawFieldNumber, kMaxRawEntries));
    OPSERVE_ASSIGN_OR_RETURN(planned_, FindPlan());
    OneShot shot;
    shot.plan = planned_->plan();
    shot.storages = std::move(message_.raw);
    shot.storages.insert(shot.storages.end(), planned_->values().begin(), planned_->values().end());
    OPSERVE_ASSIGN_OR_RETURN(SharedStorages shared, planned_->FindShared(with_.regions));
    AddSharedStorages(shared, shot);
    regions_ = std::move(shared.regions);
    OPSERVE_RETURN_IF_ERROR(CheckAnswer(shot));
    shot.deadline = absl::FromChrono(context_.deadline());
    shot.cancelled = [this] { return context_.IsCancelled(); };
    shot.done = [this](absl::StatusOr<Outputs> outputs) { Answer(std::move(outputs)); };
    return shot;
  }

  absl::StatusOr<std::shared_ptr<const PlannedCall>> FindPlan() {
    const size_t entries = message_.raw.size();
    std::shared_ptr<const PlannedCall> known = with_.plans.Find(message_.header, entries);
    if (known != nullptr) return known;
    v1::ExecuteRequest request;
    OPSERVE_RETURN_IF_ERROR(ParseHeader(message_.header, request));
    OPSERVE_ASSIGN_OR_RETURN(const v1::TensorEncoding encoding,
                             DecodeEncoding(request.output_encoding()));
    OPSERVE_ASSIGN_OR_RETURN(
        std::shared_ptr<const PlannedCall> planned,
        PlannedCall::Make(with_.engine, request.call(), message_.raw, encoding));
    with_.plans.Put(std::move(message_.header), entries, planned);
    return planned;
  }

  absl::Status CheckAnswer(const OneShot& shot) const {
    const size_t bytes = planned_->form().max_response_bytes();
    if (bytes <= static_cast<size_t>(with_.max_message_bytes)) return absl::OkStatus();
    // A shape without bytes behind it is what it is, not a large answer.
    OPSERVE_RETURN_IF_ERROR(CheckStorages(*shot.plan, shot.storages, shot.output_storages));
    return CheckAnswerSize(shot.plan->call, bytes, with_.max_message_bytes);
  }

  void Answer(absl::StatusOr<Outputs> outputs) {
    // The engine is done with them; the answer may take long to leave.
    message_.slices.clear();
    regions_.clear();
    if (!outputs.ok()) return Finish(meter_.End(outputs.status(), 0));
    response_ = WriteExecuteResponse(planned_->form(), *std::move(outputs));
    Finish(meter_.End(absl::OkStatus(), response_.Length()));
  }

  const ExecuteContext with_;
  const grpc::CallbackServerContext& context_;
  grpc::ByteBuffer& response_;
  CallMeter meter_;
  SplitMessage message_;
  std::shared_ptr<const PlannedCall> planned_;
  std::vector<std::shared_ptr<const SharedRegion>> regions_;
};

}  // namespace

grpc::ServerUnaryReactor* StartExecute(const ExecuteContext& with,
                                       grpc::CallbackServerContext& context,
                                       const grpc::ByteBuffer& request,
                                       grpc::ByteBuffer& response) {
  auto* call = new ExecuteCall(with, context, request.Length(), response);
  call->Start(request);
  return call;
}

}  // namespace opserve::server
