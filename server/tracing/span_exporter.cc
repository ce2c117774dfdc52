#include "server/tracing/span_exporter.h"

#include <chrono>
#include <random>
#include <utility>

#include "core/base/clock.h"
#include "core/base/thread.h"
#include "server/tracing/otlp_json.h"

namespace opserve::server {
namespace {

// How long calls wait for others to be sent with.
constexpr absl::Duration kGatherTime = absl::Milliseconds(500);
constexpr absl::Duration kStopTime = absl::Milliseconds(300);

}  // namespace

SpanExporter::SpanExporter(std::unique_ptr<Collector> collector, absl::Duration first_wait)
    : collector_(std::move(collector)),
      first_wait_(first_wait),
      thread_(StartThread("the thread that exports spans", [this] { Run(); })) {}

void SpanExporter::Offer(CallRecord call) {
  bool wakes = false;
  {
    const MutexLock lock(mutex_);
    if (stopping_ || waiting_.size() >= kMostWaiting) {
      ++counts_.dropped;
      return;
    }
    waiting_.push_back(std::move(call));
    wakes = waiting_.size() == 1 || waiting_.size() == kMostTogether;
  }
  if (wakes) changed_.NotifyAll();
}

void SpanExporter::Stop() {
  const absl::Time end = Clock::Real().Now() + kStopTime;
  {
    const MutexLock lock(mutex_);
    if (std::exchange(stopping_, true)) return;
    changed_.NotifyAll();
    while (!done_ && WaitUntil(end, changed_, mutex_)) {
    }
    counts_.dropped += static_cast<int64_t>(waiting_.size());
    waiting_.clear();
  }
  collector_->Abort();
  thread_.join();
}

SpanExporter::Counts SpanExporter::counts() const {
  const MutexLock lock(mutex_);
  return counts_;
}

void SpanExporter::Run() {
  for (std::vector<CallRecord> calls = Take(); !calls.empty(); calls = Take()) Send(calls);
  const MutexLock lock(mutex_);
  done_ = true;
  changed_.NotifyAll();
}

std::vector<CallRecord> SpanExporter::Take() {
  const MutexLock lock(mutex_);
  while (waiting_.empty() && !stopping_) changed_.Wait(mutex_);
  const absl::Time end = Clock::Real().Now() + kGatherTime;
  while (waiting_.size() < kMostTogether && !stopping_ && WaitUntil(end, changed_, mutex_)) {
  }
  std::vector<CallRecord> calls;
  while (!waiting_.empty() && calls.size() < kMostTogether) {
    calls.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  return calls;
}

void SpanExporter::Send(const std::vector<CallRecord>& calls) {
  static thread_local std::mt19937_64 random(std::random_device{}());
  const std::string body = OtlpJson(calls, OPSERVE_VERSION, [] { return random(); });
  CollectorAnswer answer;
  for (int tries = 1; tries <= kMostTries; ++tries) {
    answer = collector_->Send(body);
    if (answer.kind == CollectorAnswer::Kind::kTaken) {
      Count(calls.size(), 0);
      if (answer.rejected_spans > 0)
        log_.Write(LogLevel::kWarning, "the collector rejected spans",
                   {LogNumber("spans", answer.rejected_spans)});
      return;
    }
    if (answer.kind == CollectorAnswer::Kind::kRefused || !WaitBeforeTry(tries)) break;
  }
  Count(0, calls.size());
  log_.Write(LogLevel::kWarning, "spans dropped",
             {LogNumber("calls", static_cast<int64_t>(calls.size())), {"error", answer.why}});
}

bool SpanExporter::WaitBeforeTry(int tries) {
  if (tries == kMostTries) return false;
  const absl::Time end = Clock::Real().Now() + first_wait_ * (1 << (tries - 1));
  const MutexLock lock(mutex_);
  while (!stopping_ && WaitUntil(end, changed_, mutex_)) {
  }
  return !stopping_;
}

void SpanExporter::Count(size_t exported, size_t dropped) {
  const MutexLock lock(mutex_);
  counts_.exported += static_cast<int64_t>(exported);
  counts_.dropped += static_cast<int64_t>(dropped);
}

}  // namespace opserve::server
