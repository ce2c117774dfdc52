#include "server/transport/unary/execute_call.h"

#include <memory>
#include <utility>

#include "core/base/status_macros.h"
#include "server/calls/planned_call.h"
#include "server/codec/message_scanner.h"
#include "server/codec/output_codec.h"
#include "server/transport/messages/raw_message.h"
#include "server/transport/unary/deadline.h"

namespace opserve::server {
namespace {

constexpr size_t kSmallAnswerBytes = 4096;

class ExecuteCall final : public EngineCall {
 public:
  using EngineCall::EngineCall;

 private:
  absl::Status Begin(const grpc::ByteBuffer& request) override {
    OPSERVE_ASSIGN_OR_RETURN(
        message_, ReadSplitMessage(request, v1::ExecuteRequest::kRawFieldNumber, kMaxRawEntries));
    OPSERVE_ASSIGN_OR_RETURN(planned_, FindPlan());
    OneShot shot;
    OPSERVE_RETURN_IF_ERROR(
        planned_->Assemble(std::move(message_.raw), with().regions, shot, regions_));
    OPSERVE_RETURN_IF_ERROR(CheckAnswer(shot));
    // What is small and quick is not worth finding out whose it is.
    if (!RunsInline(*shot.plan) || planned_->form().max_response_bytes() > kSmallAnswerBytes)
      shot.client = client();
    shot.deadline = DeadlineOf(context(), with().engine.clock());
    shot.cancelled = [this] { return context().IsCancelled(); };
    shot.done = [this](absl::StatusOr<Outputs> outputs) { End(std::move(outputs)); };
    shot.done_time = ValuesTime(planned_->form().values_bytes());
    shot.times = &times_;
    meter().HandOver(shot.plan->call.op->name);
    with().engine.Submit(std::move(shot));
    return absl::OkStatus();
  }

  absl::StatusOr<std::shared_ptr<const PlannedCall>> FindPlan() {
    const size_t entries = message_.raw.size();
    std::shared_ptr<const PlannedCall> known = with().plans.Find(message_.header, entries);
    if (known != nullptr) return known;
    v1::ExecuteRequest request;
    OPSERVE_RETURN_IF_ERROR(ParseHeader(message_.header, request));
    OPSERVE_ASSIGN_OR_RETURN(const v1::TensorEncoding encoding,
                             DecodeEncoding(request.output_encoding()));
    OPSERVE_ASSIGN_OR_RETURN(
        std::shared_ptr<const PlannedCall> planned,
        PlannedCall::Make(with().engine, request.call(), message_.raw, encoding));
    with().plans.Put(std::move(message_.header), entries, planned);
    return planned;
  }

  absl::Status CheckAnswer(const OneShot& shot) const {
    const size_t bytes = planned_->form().max_response_bytes();
    if (bytes <= static_cast<size_t>(with().max_message_bytes)) return absl::OkStatus();
    // A shape without bytes behind it is what it is, not a large answer.
    OPSERVE_RETURN_IF_ERROR(CheckStorages(*shot.plan, shot.storages, shot.output_storages));
    return CheckAnswerSize(shot.plan->call, bytes, with().max_message_bytes);
  }

  void End(absl::StatusOr<Outputs> outputs) {
    // The engine is done with them; the answer may take long to leave.
    message_.slices.clear();
    regions_.clear();
    charge().Clear();
    meter().Ran(times_);
    if (!outputs.ok()) return Refuse(outputs.status());
    // Raw bytes are leases of the device's memory.
    const ResultForm& form = planned_->form();
    Answer(WriteExecuteResponse(form, *std::move(outputs), times_),
           form.is_raw() ? Memory::kOfDevice : Memory::kOfHost);
  }

  SplitMessage message_;
  std::shared_ptr<const PlannedCall> planned_;
  HeldRegions regions_;
  CallTimes times_;
};

}  // namespace

grpc::ServerUnaryReactor* StartExecute(const ExecuteContext& with,
                                       grpc::CallbackServerContext& context,
                                       const grpc::ByteBuffer& request,
                                       grpc::ByteBuffer& response) {
  auto* call = new ExecuteCall(with, Method::kExecute, context, request.Length(), response);
  call->Start(request, v1::ExecuteRequest::kRawFieldNumber, kMaxRawEntries);
  return call;
}

}  // namespace opserve::server
