#include "server/services/execute_call.h"

#include <memory>
#include <utility>
#include <vector>

#include <grpcpp/server_context.h>

#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "server/connections/peer_address.h"
#include "server/plans/planned_call.h"
#include "server/services/call_meter.h"
#include "server/services/call_sample.h"
#include "server/services/deadline.h"
#include "server/services/worker_task.h"
#include "server/wire/inflate.h"
#include "server/wire/output_codec.h"
#include "server/wire/raw_message.h"
#include "server/wire/shared_codec.h"

namespace opserve::server {
namespace {

constexpr size_t kSmallAnswerBytes = 4096;

// One Execute. Owned by gRPC: lives until OnDone, which follows Finish, which follows the engine's
// `done`.
class ExecuteCall final : public grpc::ServerUnaryReactor {
 public:
  ExecuteCall(const ExecuteContext& with, grpc::CallbackServerContext& context,
              size_t request_bytes, grpc::ByteBuffer& response)
      : with_(with),
        context_(context),
        response_(response),
        meter_(with.counters, Method::kExecute, context, request_bytes),
        sample_(with.connections, context, request_bytes, with.answers.is_crowded()),
        charge_(with.host_memory) {
    ++with_.executing;
  }
  ~ExecuteCall() override { --with_.executing; }

  void Start(const grpc::ByteBuffer& request) {
    const bool is_long =
        TakesLongToRead(request, v1::ExecuteRequest::kRawFieldNumber, kMaxRawEntries);
    if (!is_long) return Begin(request);
    ReadOnWorker(with_, context_, request.Length(), charge_,
                 [this, &request](const absl::Status& status) {
                   if (!status.ok()) return Finish(meter_.End(status, 0));
                   Begin(request);
                 });
  }

 private:
  // The request stays until Finish.
  void Begin(const grpc::ByteBuffer& request) {
    const PlainRequest plain(request, with_.max_inflated_bytes);
    absl::StatusOr<OneShot> shot =
        plain.status().ok() ? Prepare(plain.bytes()) : absl::StatusOr<OneShot>(plain.status());
    if (!shot.ok()) return Finish(meter_.End(shot.status(), 0));
    with_.engine.Submit(*std::move(shot));
  }

  ClientId client() const { return PeerAddress::Parse(context_.peer()).client(); }

  void OnDone() override {
    sample_.End();
    delete this;
  }
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
    // What is small and quick is not worth finding out whose it is.
    if (!RunsInline(*shot.plan) || planned_->form().max_response_bytes() > kSmallAnswerBytes)
      shot.client = client();
    shot.deadline = DeadlineOf(context_, with_.engine.clock());
    shot.cancelled = [this] { return context_.IsCancelled(); };
    shot.done = [this](absl::StatusOr<Outputs> outputs) { Answer(std::move(outputs)); };
    shot.done_time = ValuesTime(planned_->form().values_bytes());
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
    charge_.Clear();
    if (!outputs.ok()) return Finish(meter_.End(outputs.status(), 0));
    response_ = WriteExecuteResponse(planned_->form(), *std::move(outputs));
    const size_t bytes = response_.Length();
    // Raw bytes are leases of the device's memory.
    const absl::Status status = with_.answers.Begin(
        sample_, context_, bytes, planned_->form().is_raw() ? 0 : bytes, leaving_);
    if (!status.ok()) response_.Clear();
    Finish(meter_.End(status, response_.Length()));
  }

  const ExecuteContext with_;
  grpc::CallbackServerContext& context_;
  grpc::ByteBuffer& response_;
  CallMeter meter_;
  const CallSample sample_;
  HostCharge charge_;
  AnswerWatch::Watched leaving_;
  SplitMessage message_;
  std::shared_ptr<const PlannedCall> planned_;
  std::vector<std::shared_ptr<const SharedRegion>> regions_;
};

}  // namespace

void ReadOnWorker(const ExecuteContext& with, const grpc::CallbackServerContext& context,
                  size_t request_bytes, HostCharge& charge, Reading read) {
  const ClientId client = PeerAddress::Parse(context.peer()).client();
  const absl::Status status = charge.Add(client, static_cast<int64_t>(request_bytes), "message");
  if (!status.ok()) return read(status);
  RunOnWorker(with.engine, client, [&context, read = std::move(read)]() mutable {
    read(context.IsCancelled() ? MakeError({.reason = ErrorReason::kCancelled}) : absl::OkStatus());
  });
}

grpc::ServerUnaryReactor* StartExecute(const ExecuteContext& with,
                                       grpc::CallbackServerContext& context,
                                       const grpc::ByteBuffer& request,
                                       grpc::ByteBuffer& response) {
  auto* call = new ExecuteCall(with, context, request.Length(), response);
  call->Start(request);
  return call;
}

}  // namespace opserve::server
