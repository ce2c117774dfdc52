// Sends calls as spans to a collector, behind the calls' backs.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "core/base/mutex.h"
#include "server/log/log.h"
#include "server/tracing/call_record.h"
#include "server/tracing/collector.h"

namespace opserve::server {

// Calls wait in a bounded queue, from where a thread of its own sends them: many together, and at
// least every second. What the collector does not take for the moment is tried again a few times
// with growing waits; what it refuses, and what finds the queue full meanwhile, is dropped and
// counted. Thread-safe.
class SpanExporter {
 public:
  static constexpr size_t kMostWaiting = 4096;
  static constexpr size_t kMostTogether = 256;
  static constexpr int kMostTries = 5;

  struct Counts {
    int64_t exported = 0;  // calls
    int64_t dropped = 0;
  };

  // Throws ThreadError. `first_wait`: before a second try; each one after waits twice as long.
  explicit SpanExporter(std::unique_ptr<Collector> collector,
                        absl::Duration first_wait = absl::Seconds(1));
  ~SpanExporter() { Stop(); }
  SpanExporter(const SpanExporter&) = delete;
  SpanExporter& operator=(const SpanExporter&) = delete;

  // Never waits for the collector.
  void Offer(CallRecord call);
  // Sends the queued calls for up to about 300 ms, then drops the rest. Later calls are dropped.
  // The second call does nothing.
  void Stop();
  Counts counts() const;

 private:
  void Run();
  // Waits for calls; empty when there will be none any more.
  std::vector<CallRecord> Take();
  void Send(const std::vector<CallRecord>& calls);
  // False when it is time to stop.
  bool WaitBeforeTry(int tries);
  void Count(size_t exported, size_t dropped);

  const std::unique_ptr<Collector> collector_;
  const absl::Duration first_wait_;
  LimitedLog log_;
  mutable Mutex mutex_;
  CondVar changed_;
  std::deque<CallRecord> waiting_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool done_ ABSL_GUARDED_BY(mutex_) = false;
  Counts counts_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace opserve::server
