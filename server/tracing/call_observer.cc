#include "server/tracing/call_observer.h"

#include <random>
#include <utility>

#include "absl/time/clock.h"
#include "server/tracing/chrome_trace.h"

namespace opserve::server {
namespace {

std::mt19937_64& Random() {
  static thread_local std::mt19937_64 random(std::random_device{}());
  return random;
}

// The root of a trace of its own.
TraceContext NewTrace() {
  TraceContext trace;
  std::independent_bits_engine<std::mt19937_64, 8, uint64_t> bytes(Random()());
  for (uint8_t& byte : trace.trace_id) byte = static_cast<uint8_t>(bytes());
  trace.trace_id[0] |= 1;  // zeros are no id
  trace.flags = 1;
  return trace;
}

}  // namespace

CallObserver::CallObserver(ObserverOptions options)
    : clock_(*options.clock),
      log_(clock_),
      slow_calls_(options.slow_call_time),
      exporter_(std::move(options.exporter)),
      sampled_part_(options.sampled_part),
      is_tracing_(exporter_ != nullptr || slow_calls_.keeps_any()) {}

bool CallObserver::Samples(std::optional<TraceContext>& trace) const {
  if (exporter_ == nullptr) return false;
  if (trace.has_value()) return trace->is_sampled();
  if (sampled_part_ <= 0) return false;
  if (std::uniform_real_distribution<double>(0, 1)(Random()) >= sampled_part_) return false;
  trace = NewTrace();
  return true;
}

void CallObserver::Ended(CallRecord call) {
  call.ended_at = absl::Now();
  slow_calls_.Add(call);
  if (call.is_sampled) exporter_->Offer(std::move(call));
}

std::string CallObserver::SlowCallsTrace() const { return ChromeTrace(slow_calls_.Kept()); }

void CallObserver::Stop() {
  if (exporter_ != nullptr) exporter_->Stop();
}

}  // namespace opserve::server
