#include "server/transport/unary/stream_message.h"

#include <algorithm>
#include <utility>

#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "inference/open_inference.pb.h"
#include "server/calls/infer_plan.h"
#include "server/calls/worker_task.h"
#include "server/codec/message_scanner.h"
#include "server/open_inference/stream_answer.h"
#include "server/transport/messages/inflate.h"

namespace opserve::server {
namespace {

constexpr uint32_t kRawInputs = inference::ModelInferRequest::kRawInputContentsFieldNumber;
// What WrapStreamAnswer adds, at most.
constexpr size_t kWrapBytes = 64;

}  // namespace

StreamMessage::StreamMessage(const ExecuteContext& with, std::shared_ptr<const StreamOrigin> origin,
                             const grpc::ByteBuffer& request, Answered answered)
    : with_(with),
      origin_(std::move(origin)),
      came_(with.engine.clock().Now()),
      request_(request),
      answered_(std::move(answered)),
      tally_(with.counters, with.observer, Method::kModelInfer, *origin_, request_.Length()),
      charge_(with.host_memory) {
  ++with_.executing;
}

void StreamMessage::Start() {
  if (!TakesLongToRead(request_, kRawInputs, kMaxRawEntries)) return Take(&StreamMessage::Parse);
  TakeOnWorker(request_.Length(), &StreamMessage::Parse);
}

void StreamMessage::TakeOnWorker(size_t bytes, Step step) {
  const absl::Status charged = charge_.Add(origin_->client, static_cast<int64_t>(bytes), "message");
  if (!charged.ok()) return Answer(charged, {}, true);
  RunOnWorker(with_.engine, origin_->client,
              [self = shared_from_this(), step] { self->Take(step); });
}

void StreamMessage::Take(Step step) {
  absl::Status status =
      origin_->is_over ? MakeError({.reason = ErrorReason::kCancelled}) : (this->*step)();
  if (!status.ok()) Answer(std::move(status), {}, true);
}

absl::Status StreamMessage::Parse() {
  OPSERVE_RETURN_IF_ERROR(Inflate(request_, with_.max_inflated_bytes));
  const int64_t more = static_cast<int64_t>(request_.Length()) - charge_.bytes();
  if (charge_.bytes() > 0 && more > 0)
    OPSERVE_RETURN_IF_ERROR(charge_.Add(origin_->client, more, "message"));
  OPSERVE_ASSIGN_OR_RETURN(message_, ReadSplitMessage(request_, kRawInputs, kMaxRawEntries));
  request_.Clear();
  OPSERVE_ASSIGN_OR_RETURN(header_, SplitInferHeader(message_.header));
  const auto ask = [this] {
    return RequireLocalUser(with_.connections.UserOf(origin_->peer_text), origin_->of_token);
  };
  OPSERVE_RETURN_IF_ERROR(shared_.Find(with_.named_regions, ask, header_.call));
  if (shared_.input_bytes() <= kReadHereRegionBytes) return Submit();
  TakeOnWorker(shared_.input_bytes(), &StreamMessage::Submit);
  return absl::OkStatus();
}

absl::Status StreamMessage::Submit() {
  OPSERVE_RETURN_IF_ERROR(shared_.ReadInputs(*with_.host_memory.staging(), message_.raw));
  OPSERVE_ASSIGN_OR_RETURN(planned_,
                           FindInferPlan(with_.engine, with_.plans, header_.call, message_.raw));
  OPSERVE_RETURN_IF_ERROR(shared_.CheckOutputs(*planned_));
  OneShot shot;
  OPSERVE_RETURN_IF_ERROR(
      planned_->Assemble(std::move(message_.raw), with_.regions, shot, regions_));
  const InferForm& form = planned_->infer_form();
  const size_t answer_bytes = form.max_response_bytes(header_.id.size()) + kWrapBytes;
  OPSERVE_RETURN_IF_ERROR(
      CheckAnswer(shot, answer_bytes - shared_.OutputBytes(*planned_), with_.max_message_bytes));
  shot.client = origin_->client;
  shot.deadline = std::min(origin_->deadline, came_ + form.timeout());
  shot.cancelled = [origin = origin_] { return origin->is_over.load(); };
  shot.done = [self = shared_from_this()](absl::StatusOr<Outputs> outputs) {
    self->Ended(std::move(outputs));
  };
  shot.done_time = shared_.WriteTime(*planned_);
  shot.times = &times_;
  tally_.HandOver(shot.plan->call.op->name);
  with_.engine.Submit(std::move(shot));
  return absl::OkStatus();
}

void StreamMessage::Ended(absl::StatusOr<Outputs> outputs) {
  tally_.Ran(times_.queued, times_.executed);
  const absl::Status status =
      outputs.ok() ? shared_.WriteOutputs(*planned_, *outputs) : outputs.status();
  if (!status.ok()) return Answer(status, {}, true);
  Answer(absl::OkStatus(),
         WrapStreamAnswer(planned_->infer_form().Write(header_.id, *std::move(outputs))), false);
}

void StreamMessage::Answer(absl::Status status, WrittenMessage answer, bool is_host) {
  // The engine is done with them; the answer may take long to leave.
  message_ = {};
  regions_.clear();
  shared_.Clear();
  charge_.Clear();
  if (!status.ok()) answer = WriteStreamError(header_.id, status);
  answer_ = ToByteBuffer(std::move(answer));
  answer_bytes_ = answer_.Length();
  host_bytes_ = is_host ? answer_bytes_ : 0;
  tally_.Count(status, answer_bytes_);
  status_ = std::move(status);
  std::exchange(answered_, nullptr)();
}

}  // namespace opserve::server
