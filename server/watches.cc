#include "server/watches.h"

#include <ctime>

#include "core/base/clock.h"
#include "core/base/usable_cores.h"
#include "server/connections/acceptor.h"
#include "server/transport/process/grpc_process.h"

namespace opserve::server {
namespace {

// How often connections are looked at. Calls that are taken back come by the thousand: those are
// looked at on every tick, while the server is busy and as far as that costs 2 % of a core.
constexpr absl::Duration kLook = absl::Milliseconds(100);
constexpr int kLooksPerSecond = 10;
constexpr int kLookTimeShare = 50;
const absl::Duration kBusyTime = Acceptor::kTick / 5;

// CPU time, of all threads or this one (CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID).
absl::Duration CpuTime(clockid_t of) {
  timespec time = {};
  ::clock_gettime(of, &time);
  return absl::DurationFromTimespec(time);
}

}  // namespace

Watches::Watches(const ConnectionLimits& limits, const ServerConfig& config)
    : load_(UsableCores()),
      load_reports_(config.load_reports, load_),
      connections_(limits, Clock::Real()),
      guard_(config.clients.process_memory_limit_bytes, connections_, Clock::Real()),
      streams_(connections_, config.connections.max_concurrent_streams),
      frames_(connections_),
      host_memory_(std::make_shared<HostMemory>(config.clients.host_memory_limit_bytes,
                                                config.clients.share, Clock::Real())),
      answers_(config.clients.answer_timeout, connections_, *host_memory_, Clock::Real()) {}

void Watches::Tick(const std::function<ServerCounts::Ended()>& ended,
                   const std::function<absl::Duration()>& expected_wait) {
  const absl::Time now = Clock::Real().Now();
  const absl::Duration process_time = CpuTime(CLOCK_PROCESS_CPUTIME_ID);
  const bool is_busy = process_time - process_time_ >= kBusyTime;
  process_time_ = process_time;
  const bool looks_at_all = now >= next_look_;
  if (looks_at_all || (is_busy && now >= next_stream_look_)) {
    const absl::Duration start = CpuTime(CLOCK_THREAD_CPUTIME_ID);
    streams_.Check(now, is_busy);
    next_stream_look_ = now + kLookTimeShare * (CpuTime(CLOCK_THREAD_CPUTIME_ID) - start);
  }
  if (!looks_at_all) return;
  next_look_ = now + kLook;
  answers_.Tick();
  frames_.Check();
  guard_.Check();
  if (!load_reports_.is_off()) load_.Look(now, {process_time, ended()}, expected_wait());
  LetGrpcLog();
  if (++looks_ % kLooksPerSecond == 0) connections_.Settle();
}

}  // namespace opserve::server
