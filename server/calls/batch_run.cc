#include "server/calls/batch_run.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/engine/plan/cost.h"
#include "core/engine/plan/scheduling.h"
#include "server/calls/worker_task.h"
#include "server/codec/call_codec.h"

namespace opserve::server {
namespace {

// Finding or making the plan of a call: values and long lists take longer to read than to compute.
constexpr absl::Duration kTimePerHeaderByte = absl::Nanoseconds(5);
// Of a call that failed, measured with the longest names that errors quote.
constexpr size_t kErrorBytes = 768;
constexpr size_t kSmallEntryBytes = 64 << 10;
// Of a planned step of a program, with those of its gradient.
constexpr size_t kProgramStepBytes = 16 << 10;

// A status that is an error in any case.
absl::Status Refusal(const absl::Status& status) {
  return status.ok() ? absl::InternalError("a call that cannot run was accepted") : status;
}

}  // namespace

absl::Status AnswerRoom::Divide(size_t results, int64_t max_message_bytes) {
  max_message_bytes_ = max_message_bytes;
  const size_t most = static_cast<size_t>(max_message_bytes) / kMaxErrorResultBytes;
  left_ = static_cast<size_t>(max_message_bytes) - std::min(results, most) * kMaxErrorResultBytes;
  if (results <= most) return absl::OkStatus();
  return OutOfRange(
      "calls",
      absl::StrCat("at most ", most, " calls, whose errors fit an answer of max_message_bytes ",
                   max_message_bytes),
      absl::StrCat(results));
}

absl::Status AnswerRoom::Take(const OpCall& call, size_t result_bytes, size_t values_bytes) {
  OPSERVE_RETURN_IF_ERROR(CheckValues(call, values_bytes, values_left_));
  const size_t more = result_bytes - std::min(result_bytes, kMaxErrorResultBytes);
  if (more > left_) {
    return MakeError(
        {.reason = ErrorReason::kResourceLimit,
         .op = std::string(call.op->name),
         .parameter = "max_message_bytes",
         .want = absl::StrCat("results of at most ", max_message_bytes_, " bytes together"),
         .got = absl::StrCat("one of ", result_bytes, " bytes with ", left_ + kMaxErrorResultBytes,
                             " left")});
  }
  left_ -= more;
  values_left_ -= values_bytes;
  return absl::OkStatus();
}

absl::Status BatchRun::Read(ScannedMessage message, std::shared_ptr<const void> owner,
                            int64_t max_message_bytes) {
  OPSERVE_ASSIGN_OR_RETURN(request_, ReadBatchRequest(std::move(message), std::move(owner)));
  OPSERVE_ASSIGN_OR_RETURN(encoding_, DecodeEncoding(request_.output_encoding));
  OPSERVE_RETURN_IF_ERROR(room_.Divide(request_.calls.size(), max_message_bytes));
  for (const DistinctCall& distinct : request_.distinct)
    program_steps_ += static_cast<size_t>(distinct.call->program().steps_size());
  OPSERVE_RETURN_IF_ERROR(CheckProgramCount(
      "steps", program_steps_, static_cast<size_t>(engine_.call_limits().max_program_steps)));
  results_.resize(request_.calls.size());
  shared_.resize(request_.distinct.size(), nullptr);
  unfinished_.store(results_.size() + 1, std::memory_order_relaxed);
  return absl::OkStatus();
}

size_t BatchRun::host_bytes() const {
  return request_.arena->SpaceAllocated() + results_.size() * (sizeof(Result) + kErrorBytes) +
         program_steps_ * kProgramStepBytes;
}

void BatchRun::Run(ClientId client, absl::AnyInvocable<void(absl::StatusOr<WrittenMessage>)> done) {
  client_ = client;
  done_ = std::move(done);
  read_ = engine_.clock().Now();
  CallGroup group = Group();
  if (group.time <= kInlineBatchTime) {
    StartCalls(absl::FromChrono(kMaxTurnTime), std::chrono::steady_clock::time_point::max());
    if (begun_ == results_.size()) return EndOne();
    group.time = TimeLeft();
  }
  engine_.SubmitGroup(std::move(group));
}

CallTimes BatchRun::times() const {
  if (begun_ == 0) return {};
  return {wait_, engine_.clock().Now() - read_ - wait_};
}

CallGroup BatchRun::Group() {
  CallGroup group;
  // Calls that are alike can run in series.
  group.time = static_cast<int64_t>(results_.size()) * kSerialCallTime +
               static_cast<int64_t>(request_.distinct.size()) * kBatchedCallTime;
  for (const DistinctCall& distinct : request_.distinct)
    group.time += distinct.call->ByteSizeLong() * kTimePerHeaderByte;
  int64_t staged = 0;
  for (const Fragments& entry : request_.raw) {
    staged += StagedBytes(entry);
    // Calls with larger ones are admitted by themselves.
    if (entry.size_bytes() <= kSmallEntryBytes)
      group.bytes += static_cast<int64_t>(entry.size_bytes());
  }
  group.time += CopyTime(staged + group.bytes);
  group.device = engine_.devices()[0].get();
  if (!request_.distinct.empty()) {
    const absl::StatusOr<Device*> named = engine_.FindDevice(request_.distinct[0].call->device());
    if (named.ok()) group.device = *named;
  }
  group.client = client_;
  group.deadline = deadline_;
  group.cancelled = [this] { return cancelled_.load(std::memory_order_relaxed); };
  group.turn = [this] {
    StartCalls(kTinyTime, std::chrono::steady_clock::now() + kMaxTurnTime);
    return TimeLeft();
  };
  group.done = [this](const absl::Status& status) { EndGroup(status); };
  return group;
}

void BatchRun::StartCalls(absl::Duration time, std::chrono::steady_clock::time_point end) {
  if (begun_ == 0) {
    wait_ = engine_.clock().Now() - read_;
    PackEntries(engine_.devices()[0]->host_memory(), client_, request_);
  }
  while (begun_ < results_.size() && time > absl::ZeroDuration()) {
    const absl::Duration took = StartNext(time);
    time -= took;
    begun_time_ += took;
    if (std::chrono::steady_clock::now() > end) break;
  }
}

absl::Duration BatchRun::TimeLeft() const {
  return begun_time_ / static_cast<int64_t>(begun_) *
         static_cast<int64_t>(results_.size() - begun_);
}

absl::Duration BatchRun::StartNext(absl::Duration time) {
  std::shared_ptr<const PlannedCall> planned = shared_[request_.calls[begun_].distinct];
  if (planned != nullptr && planned->is_serial() &&
      planned->form().max_batched_bytes() <= kMaxErrorResultBytes) {
    const Series series = NextSeries(*planned, time);
    if (RunSeries(std::move(planned), series.calls)) return series.time;
  }
  absl::Duration took = kBatchedCallTime;
  absl::StatusOr<OneShot> shot = Prepare(begun_);
  if (shot.ok()) {
    if (RunsInline(*shot)) took += EstimatedTime(*shot);
    engine_.Submit(*std::move(shot));
  } else {
    EndCall(begun_, shot.status());
  }
  ++begun_;
  return took;
}

BatchRun::Series BatchRun::NextSeries(const PlannedCall& planned, absl::Duration time) const {
  const absl::Duration each = kSerialCallTime + planned.plan()->cost.time;
  const auto most = static_cast<size_t>(1 + time / each);
  const size_t end = begun_ + std::min(most, results_.size() - begun_);
  const size_t distinct = request_.calls[begun_].distinct;
  Series series;
  int64_t staged = 0;
  for (size_t next = begun_; next < end && staged <= kMaxStagedBytes; ++next) {
    const BatchedCall& call = request_.calls[next];
    if (call.distinct != distinct) break;
    for (const uint32_t entry : call.entries) staged += StagedBytes(request_.raw[entry]);
    ++series.calls;
  }
  series.time = series.calls * each + CopyTime(staged);
  return series;
}

bool BatchRun::RunSeries(std::shared_ptr<const PlannedCall> planned, size_t count) {
  std::vector<CallSeries::Call> calls(count);
  for (size_t i = 0; i < count; ++i) calls[i].storages = request_.calls[begun_ + i].entries;
  absl::StatusOr<SeriesOutputs> outputs = engine_.RunSeries(
      {.plan = &*planned->plan(),
       .storages = request_.raw,
       .calls = calls,
       .client = client_,
       .deadline = deadline_,
       .cancelled = [this] { return cancelled_.load(std::memory_order_relaxed); }});
  if (!outputs.ok()) return false;
  series_.push_back(std::make_unique<const SeriesResults>(
      SeriesResults{std::move(planned), *std::move(outputs)}));
  for (size_t i = 0; i < count; ++i) {
    Result& result = results_[begun_ + i];
    if (calls[i].status.ok()) {
      result.series = series_.back().get();
      result.index = i;
    } else {
      result.outputs = std::move(calls[i].status);
    }
  }
  begun_ += count;
  // The loop that starts the calls is not over.
  unfinished_.fetch_sub(count, std::memory_order_acq_rel);
  return true;
}

void BatchRun::EndGroup(const absl::Status& status) {
  if (!status.ok() && begun_ == 0) {
    absl::AnyInvocable<void(absl::StatusOr<WrittenMessage>)> done = std::move(done_);
    return done(status);
  }
  for (; begun_ < results_.size(); ++begun_) EndCall(begun_, status);
  EndOne();
}

absl::StatusOr<OneShot> BatchRun::Prepare(size_t index) {
  const BatchedCall& batched = request_.calls[index];
  const DistinctCall& distinct = request_.distinct[batched.distinct];
  if (distinct.raw_index == DistinctCall::RawIndex::kOfBatch)
    return Refusal(DecodeCall(*distinct.call, TensorData::kMessageOrShared, request_.raw).status());
  std::vector<Fragments> raw;
  raw.reserve(batched.entries.size());
  for (const uint32_t entry : batched.entries) raw.push_back(request_.raw[entry]);
  std::shared_ptr<const PlannedCall>& shared = shared_[batched.distinct];
  std::shared_ptr<const PlannedCall> planned = shared;
  if (planned == nullptr) {
    OPSERVE_ASSIGN_OR_RETURN(planned, PlannedCall::Make(engine_, *distinct.call, raw, encoding_));
    if (planned->is_shareable()) shared = planned;
  }
  OneShot shot;
  OPSERVE_RETURN_IF_ERROR(
      planned->Assemble(std::move(raw), regions_, shot, results_[index].regions));
  OPSERVE_RETURN_IF_ERROR(TakeRoom(*planned, shot));
  results_[index].planned = std::move(planned);
  shot.client = client_;
  shot.deadline = deadline_;
  shot.cancelled = [this] { return cancelled_.load(std::memory_order_relaxed); };
  shot.times = &results_[index].times;
  shot.done = [this, index](absl::StatusOr<Outputs> outputs) {
    EndCall(index, std::move(outputs));
  };
  return shot;
}

absl::Status BatchRun::TakeRoom(const PlannedCall& planned, const OneShot& shot) {
  const size_t bytes = planned.form().max_batched_bytes();
  if (bytes <= kMaxErrorResultBytes && planned.form().is_raw()) return absl::OkStatus();
  // First, so that a shape without bytes behind it is what it is, not a large answer.
  OPSERVE_RETURN_IF_ERROR(CheckStorages(*planned.plan(), shot.storages, shot.output_storages));
  return room_.Take(planned.plan()->call, bytes, planned.form().values_bytes());
}

void BatchRun::EndCall(size_t index, absl::StatusOr<Outputs> outputs) {
  results_[index].outputs = std::move(outputs);
  results_[index].regions.clear();
  EndOne();
}

void BatchRun::EndOne() {
  if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  const absl::Duration time =
      static_cast<int64_t>(results_.size()) * kSerialCallTime + ValuesTime(room_.values_taken());
  if (time <= kTinyTime) return End();
  // The call that ended last may run between the chunks of somebody else's.
  RunOnWorker(engine_, client_, [this] { End(); });
}

void BatchRun::End() {
  // It may be that `done` ends this object.
  absl::AnyInvocable<void(absl::StatusOr<WrittenMessage>)> done = std::move(done_);
  if (cancelled_.load(std::memory_order_relaxed))
    return done(MakeError({.reason = ErrorReason::kCancelled}));
  done(Answer());
}

WrittenMessage BatchRun::Answer() {
  // The engine is done with it, and the answer may take long to leave.
  request_ = BatchRequest();
  BatchResponseWriter writer;
  calls_ = results_.size();
  for (Result& result : results_) {
    if (result.series != nullptr) {
      const SeriesResults& series = *result.series;
      writer.Add(series.planned->form(), series.outputs, result.index,
                 {wait_, series.outputs.times.executed});
      continue;
    }
    if (result.outputs.ok()) {
      writer.Add(result.planned->form(), *std::move(result.outputs),
                 {wait_ + result.times.queued, result.times.executed});
      continue;
    }
    ++failed_calls_;
    counters_.Failed("a call of ExecuteBatch", ReasonOf(result.outputs.status()),
                     result.outputs.status());
    writer.AddError(result.outputs.status());
  }
  counters_.BatchEnded(calls_, failed_calls_);
  shared_ = decltype(shared_)();
  results_ = decltype(results_)();
  series_ = decltype(series_)();
  return std::move(writer).Write();
}

}  // namespace opserve::server
