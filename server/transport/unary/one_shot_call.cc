#include "server/transport/unary/one_shot_call.h"

#include <algorithm>
#include <utility>

#include "core/base/status_macros.h"
#include "server/calls/infer_plan.h"
#include "server/calls/infer_regions.h"
#include "server/transport/unary/deadline.h"

namespace opserve::server {
namespace {

constexpr size_t kSmallAnswerBytes = 4096;

}  // namespace

absl::Status OneShotCall::Begin(const grpc::ByteBuffer& request) {
  OPSERVE_ASSIGN_OR_RETURN(message_, ReadSplitMessage(request, raw_field_, kMaxRawEntries));
  OPSERVE_ASSIGN_OR_RETURN(const size_t elsewhere, BytesElsewhere(message_));
  if (elsewhere <= kReadHereRegionBytes) return Submit();
  ReadOnWorker(with(), client(), context(), elsewhere, charge(),
               [this](const absl::Status& status) {
                 const absl::Status submitted = status.ok() ? Submit() : status;
                 if (!submitted.ok()) Refuse(submitted);
               });
  return absl::OkStatus();
}

absl::Status OneShotCall::Submit() {
  OPSERVE_ASSIGN_OR_RETURN(planned_, FindPlan(message_));
  // Many times as large as its message.
  if (planned_->plan()->program != nullptr)
    OPSERVE_RETURN_IF_ERROR(charge().Add(client(), HostBytes(*planned_->plan()), "program"));
  OPSERVE_ASSIGN_OR_RETURN(const absl::Duration write_time, CheckElsewhere(*planned_));
  OneShot shot;
  OPSERVE_RETURN_IF_ERROR(
      planned_->Assemble(std::move(message_.raw), with().regions, shot, regions_));
  OPSERVE_RETURN_IF_ERROR(CheckAnswer(shot, MaxResponseBytes(*planned_), with().max_message_bytes));
  shot.deadline = std::min(DeadlineOf(context(), with().engine.clock()), LatestEnd(*planned_));
  shot.cancelled = [this] { return context().IsCancelled(); };
  shot.done = [this](absl::StatusOr<Outputs> outputs) { End(std::move(outputs)); };
  shot.done_time = ValuesTime(planned_->form().values_bytes()) + write_time;
  shot.times = &times_;
  // What is small and quick is not worth finding out whose it is.
  if (!RunsInline(shot) || MaxResponseBytes(*planned_) > kSmallAnswerBytes) shot.client = client();
  meter().HandOver(shot.plan->call.op->name);
  with().engine.Submit(std::move(shot));
  return absl::OkStatus();
}

void OneShotCall::End(absl::StatusOr<Outputs> outputs) {
  // The engine is done with them; the answer may take long to leave.
  message_.slices.clear();
  regions_.clear();
  ClearElsewhere();
  charge().Clear();
  meter().Ran(times_);
  if (!outputs.ok()) return Refuse(outputs.status());
  const absl::Status written = WriteElsewhere(*planned_, *outputs);
  if (!written.ok()) return Refuse(written);
  // Raw bytes are leases of the device's memory.
  const Memory memory = planned_->form().is_raw() ? Memory::kOfDevice : Memory::kOfHost;
  Answer(Write(*planned_, *std::move(outputs), times_), memory);
}

}  // namespace opserve::server
