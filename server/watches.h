// What looks after the server's connections, and after what its clients hold, while calls run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/time/time.h"
#include "server/connections/connection_table.h"
#include "server/connections/frame_watch.h"
#include "server/connections/memory_guard.h"
#include "server/counters/load_gauge.h"
#include "server/flags/config.h"
#include "server/transport/process/stream_watch.h"
#include "server/transport/unary/answer_watch.h"
#include "server/transport/unary/load_reports.h"

namespace opserve::server {

class Watches {
 public:
  Watches(const ConnectionLimits& limits, const ServerConfig& config);

  ConnectionTable& connections() { return connections_; }
  StreamWatch& streams() { return streams_; }
  AnswerWatch& answers() { return answers_; }
  const std::shared_ptr<HostMemory>& host_memory() const { return host_memory_; }
  const LoadReports& load_reports() const { return load_reports_; }

  // To be called every Acceptor::kTick, by one thread. The functions are called when a load report
  // needs what they tell: calls that have ended, and how long a new call would wait.
  void Tick(const std::function<ServerCounts::Ended()>& ended,
            const std::function<absl::Duration()>& expected_wait);

 private:
  LoadGauge load_;
  const LoadReports load_reports_;
  ConnectionTable connections_;
  MemoryGuard guard_;
  StreamWatch streams_;
  FrameWatch frames_;
  const std::shared_ptr<HostMemory> host_memory_;
  AnswerWatch answers_;
  int64_t looks_ = 0;
  absl::Time next_look_ = absl::InfinitePast();
  absl::Time next_stream_look_ = absl::InfinitePast();
  absl::Duration process_time_;
};

}  // namespace opserve::server
