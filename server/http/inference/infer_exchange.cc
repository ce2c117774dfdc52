#include "server/http/inference/infer_exchange.h"

#include <span>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "server/calls/infer_plan.h"
#include "server/calls/result_form.h"
#include "server/calls/worker_task.h"
#include "server/rest/rest_answer.h"

namespace opserve::server {
namespace {

// Up to here JSON is read on the port's thread: more takes milliseconds, and others would wait.
constexpr size_t kReadHereBytes = size_t{16} << 10;
constexpr char kBinary[] = "application/octet-stream";

}  // namespace

void InferExchange::Run() {
  came_ = with().engine.clock().Now();
  absl::StatusOr<RunningCalls::Place> place = state().running.Begin(head().client);
  if (!place.ok()) return Fail(place.status());
  place_ = *std::move(place);
  if (json_bytes_.value_or(body().size()) <= kReadHereBytes) return TakeStep(&InferExchange::Parse);
  RunOnWorker(with().engine, head().client,
              [self = shared_from_this()] { self->TakeStep(&InferExchange::Parse); });
}

void InferExchange::TakeStep(absl::Status (InferExchange::*step)()) {
  const absl::Status status =
      IsCancelled() ? MakeError({.reason = ErrorReason::kCancelled}) : (this->*step)();
  if (status.ok()) return;
  // The place is free before the client knows that.
  place_ = {};
  Fail(status);
}

absl::Status InferExchange::Charge(int64_t bytes, std::string_view parameter) {
  return charge().Add(head().client, bytes, parameter);
}

absl::Status InferExchange::Parse() {
  OPSERVE_ASSIGN_OR_RETURN(
      request_, ReadRestRequest(head().model, head().version, body(), json_bytes_,
                                {.max_tensor_bytes = with().max_message_bytes},
                                [this](int64_t bytes) { return Charge(bytes, "inputs"); }));
  OPSERVE_RETURN_IF_ERROR(shared_.Find(
      with().named_regions, [this] { return RequireLocalUser(head().user, head().of_token); },
      request_.header));
  if (shared_.input_bytes() <= kReadHereRegionBytes) return Submit();
  OPSERVE_RETURN_IF_ERROR(Charge(static_cast<int64_t>(shared_.input_bytes()), "inputs"));
  RunOnWorker(with().engine, head().client,
              [self = shared_from_this()] { self->TakeStep(&InferExchange::Submit); });
  return absl::OkStatus();
}

absl::Status InferExchange::Submit() {
  OPSERVE_RETURN_IF_ERROR(shared_.ReadInputs(*with().host_memory.staging(), request_.raw));
  OPSERVE_ASSIGN_OR_RETURN(
      planned_, FindInferPlan(with().engine, with().plans, request_.header, request_.raw));
  OPSERVE_RETURN_IF_ERROR(shared_.CheckOutputs(*planned_));
  for (size_t i = 0; i < planned_->infer_form().entries().size(); ++i)
    request_.shared_outputs.push_back(shared_.IsShared(i));
  OneShot shot;
  OPSERVE_RETURN_IF_ERROR(planned_->Assemble(std::move(request_.raw), nullptr, shot, regions_));
  const OpCall& call = shot.plan->call;
  const InferForm& form = planned_->infer_form();
  OPSERVE_RETURN_IF_ERROR(
      CheckAnswer(shot, MaxRestAnswerBytes(call, form, request_), with().max_message_bytes));
  const size_t json_bytes = MaxRestJsonBytes(call, form, request_);
  OPSERVE_RETURN_IF_ERROR(Charge(static_cast<int64_t>(json_bytes), "answer"));
  shot.client = head().client;
  shot.deadline = came_ + form.timeout();
  shot.cancelled = [this] { return IsCancelled(); };
  shot.done = [self = shared_from_this()](absl::StatusOr<Outputs> outputs) {
    self->Ended(std::move(outputs));
  };
  shot.done_time = ValuesTime(json_bytes) + shared_.WriteTime(*planned_);
  shot.times = &times_;
  tally().HandOver(call.op->name);
  with().engine.Submit(std::move(shot));
  return absl::OkStatus();
}

void InferExchange::Ended(absl::StatusOr<Outputs> outputs) {
  tally().Ran(times_.queued, times_.executed);
  place_ = {};
  shared_.Clear();
  const absl::Status status =
      outputs.ok() ? shared_.WriteOutputs(*planned_, *outputs) : outputs.status();
  if (!status.ok()) return Fail(status);
  request_.values.clear();
  DropBody();
  Answer(Write(*std::move(outputs)));
}

HttpResponse InferExchange::Write(Outputs outputs) const {
  RestAnswer answer =
      WriteRestAnswer(planned_->plan()->call, planned_->infer_form(), request_, std::move(outputs));
  const size_t json_bytes = answer.json.size();
  HttpResponse response = JsonResponse(head(), 200, std::move(answer.json));
  if (!answer.has_binary) return response;
  response.content_type = kBinary;
  response.headers.emplace_back(kJsonBytesHeader, absl::StrCat(json_bytes));
  const auto kept = std::make_shared<std::vector<PooledBuffer>>(std::move(answer.binary));
  for (const PooledBuffer& entry : *kept) {
    if (entry.size() > 0) response.more.emplace_back(entry.data(), entry.size());
  }
  response.kept = kept;
  return response;
}

}  // namespace opserve::server
