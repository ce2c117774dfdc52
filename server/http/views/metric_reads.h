// How a metric's numbers are read: one of the server, or one of each method, operator or device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "server/http/views/metrics.h"

namespace opserve::server::metric {

using View = const ServerView&;
using Series = MetricSeries&;

// One number, of the whole server.
template <typename Read>
auto Value(const Read& read) {
  return [read](View view, Series series) { series.Add({}, std::invoke(read, view)); };
}

inline auto OfCounts(int64_t ServerCounts::*member) {
  return Value([member](View view) { return view.counts.*member; });
}

template <typename Member>
auto OfEngine(Member member) {
  return Value([member](View view) { return view.engine.*member; });
}

// One of each method, operator or device.
template <typename Read>
auto OfMethods(const Read& read) {
  return [read](View view, Series series) {
    for (size_t i = 0; i < kNumMethods; ++i)
      series.Add({MethodName(static_cast<Method>(i))}, std::invoke(read, view.counts.methods[i]));
  };
}

template <typename Read>
auto OfOperators(const Read& read) {
  return [read](View view, Series series) {
    for (const OperatorStatistics& each : view.engine.operators)
      series.Add({each.op}, std::invoke(read, each));
  };
}

template <typename Read>
auto OfDevices(const Read& read) {
  return [read](View view, Series series) {
    for (const DeviceView& each : view.devices)
      series.Add({each.info.name}, std::invoke(read, each));
  };
}

inline auto OfPools(int64_t MemoryPool::Stats::*member) {
  return OfDevices([member](const DeviceView& device) { return device.memory.*member; });
}

inline auto OfHostMemory(int64_t HostMemory::Stats::*member) {
  return Value([member](View view) { return view.host_memory.*member; });
}

// Where shared memory is allowed.
template <typename Read>
auto OfSharedMemory(const Read& read) {
  return [read](View view, Series series) {
    if (view.shared_memory.has_value()) series.Add({}, std::invoke(read, *view.shared_memory));
  };
}

// Where clients of the Open Inference Protocol may register theirs.
template <typename Read>
auto OfRegisteredMemory(const Read& read) {
  return [read](View view, Series series) {
    if (view.registered_memory.has_value())
      series.Add({}, std::invoke(read, *view.registered_memory));
  };
}

// What is told apart by more than one of those.
void AddCertificatesEnd(View view, Series series);  // with TLS
void AddRpcs(View view, Series series);
void AddRpcTimes(View view, Series series);
void AddErrors(View view, Series series);
void AddBatchSizes(View view, Series series);
void AddCalls(View view, Series series);
void AddExecutions(View view, Series series);
void AddWaits(View view, Series series);
void AddBegun(View view, Series series);
void AddRefused(View view, Series series);
void AddDropped(View view, Series series);
void AddLeases(View view, Series series);
void AddLookups(View view, Series series);

int64_t OpenSessions(View view);
int64_t CommandsInFlight(View view);

}  // namespace opserve::server::metric
