// The ways to load a server: a fixed number of messages outstanding (closed loop), or messages at
// moments that were drawn beforehand (open loop).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "tests/bench/e2e/engine.h"
#include "tests/bench/e2e/recorder.h"
#include "tests/bench/e2e/stream_script.h"
#include "tests/bench/e2e/unary_task.h"

namespace opserve::bench {

using Connections = std::vector<std::unique_ptr<Connection>>;

// Sends one message and checks its answer, whole. UNIMPLEMENTED when the server has no such method.
absl::Status TryOnce(Connection& connection, const UnaryTask& task, absl::Duration timeout);

// All of these start now and return once what they sent is over, at the latest `timeout` after the
// recorder's end. An answer that is not as large as that of TryOnce is a fault.

// `in_flight` messages outstanding in all, in turn over the connections.
void RunClosedLoop(const Connections& connections, const UnaryTask& task, int in_flight,
                   absl::Duration timeout, Recorder& recorder);

struct OpenLoopOptions {
  absl::Time begin;  // arrivals count from here
  std::vector<RatePhase> phases;
  uint64_t seed = 1;
  int threads = 1;              // that send; each has its part of the rate
  int64_t max_outstanding = 0;  // messages due beyond it are not sent, and counted
};

// Latencies and timeouts count from the arrival, however late the message leaves. One that would
// leave after its timeout is not sent, and counted: this machine is too slow for the load.
void RunOpenLoop(const Connections& connections, const UnaryTask& task,
                 const OpenLoopOptions& options, absl::Duration timeout, Recorder& recorder);

// One stream on each connection with a script of its own, `units_in_flight` units outstanding on
// each. The first answers are checked whole. A message that fails is a fault.
void RunStreams(const Connections& connections,
                const std::vector<std::unique_ptr<StreamScript>>& scripts, Peer peer,
                int units_in_flight, absl::Duration timeout, Recorder& recorder);

}  // namespace opserve::bench
