// What becomes of calls besides their answers and the counters: lines in the log, spans, the list
// of slow calls.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/trace_context.h"
#include "server/tracing/call_log.h"
#include "server/tracing/call_record.h"
#include "server/tracing/slow_calls.h"
#include "server/tracing/span_exporter.h"

namespace opserve::server {

struct ObserverOptions {
  std::unique_ptr<SpanExporter> exporter;  // nullptr: spans are not exported
  // Of the calls without a traceparent, the part that is traced all the same. Those with one are
  // traced when it says that they are sampled.
  double sampled_part = 0;
  absl::Duration slow_call_time;  // see SlowCalls
  const Clock* clock = &Clock::Real();
};

// Thread-safe.
class CallObserver {
 public:
  explicit CallObserver(ObserverOptions options = {});

  // Whether anybody may want to know of a call that begins now: where not, a call costs this.
  bool IsWatching() const { return is_tracing_ || CallLog::IsVerbose(); }

  // Of a call that begins, with the trace that its client named: makes a trace where one is to
  // begin here, and says whether the call's spans are to be exported.
  bool Samples(std::optional<TraceContext>& trace) const;
  // Whether calls that are not sampled are of interest, too.
  bool WatchesAll() const { return slow_calls_.keeps_any() || CallLog::IsVerbose(); }

  // A watched call is over, and its record whole but for `ended_at`, which is now.
  void Ended(CallRecord call);

  // The slow calls as ChromeTrace has them.
  std::string SlowCallsTrace() const;
  // Sends the spans that wait, soon, and then no more.
  void Stop();

  CallLog& log() { return log_; }
  const Clock& clock() const { return clock_; }
  // nullptr where spans are not exported.
  const SpanExporter* exporter() const { return exporter_.get(); }

 private:
  const Clock& clock_;
  CallLog log_;
  SlowCalls slow_calls_;
  const std::unique_ptr<SpanExporter> exporter_;
  const double sampled_part_;
  const bool is_tracing_;
};

}  // namespace opserve::server
