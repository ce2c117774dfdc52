// All that is shown of a server, as it is at one moment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/device/device.h"
#include "core/engine/engine.h"
#include "server/calls/plan_cache.h"
#include "server/connections/connection_table.h"
#include "server/counters/server_counters.h"
#include "server/http/views/readiness.h"
#include "server/identity/certificate_store.h"
#include "server/session/host_memory.h"
#include "server/session/open_streams.h"
#include "server/shared_memory/named_region_table.h"
#include "server/shared_memory/region_table.h"

namespace opserve::server {

// What is shown of. All of it must outlive who shows it.
struct ViewSources {
  Engine& engine;
  const ServerCounters& counters;
  const ConnectionTable& connections;
  const PlanCache& plans;
  const OpenStreams& open_streams;
  const HostMemory& host_memory;
  const RegionTable* regions = nullptr;             // none where shared memory is not allowed
  const NamedRegionTable* named_regions = nullptr;  // likewise, of the Open Inference Protocol
  const CertificateStore* certificates = nullptr;   // none without TLS
  const Readiness& readiness;
  const Clock& clock = Clock::Real();
};

// What the system says of this process.
struct ProcessView {
  absl::Duration cpu_time;
  int64_t resident_bytes = 0;
  int64_t open_descriptors = 0;
};

struct DeviceView {
  DeviceInfo info;
  std::string lost;  // why; empty while it works
  MemoryPool::Stats memory;
  int64_t open_streams = 0;
};

struct ServerView {
  absl::Time time;                     // of the clock
  absl::Duration uptime;               // since `start`
  std::vector<std::string> not_ready;  // Readiness::reasons
  ProcessView process;
  ServerCounts counts;
  EngineStatistics engine;
  std::vector<DeviceView> devices;
  int64_t connections = 0;
  int64_t connections_refused = 0;
  int64_t connections_cut = 0;
  PlanCache::Stats plans;
  HostMemory::Stats host_memory;
  std::optional<RegionTable::Stats> shared_memory;
  std::optional<NamedRegionTable::Stats> registered_memory;
  std::optional<absl::Time> certificates_end;  // by the wall clock; none without TLS
  std::vector<RecentError> errors;             // the newest first
  ExemplarMap exemplars;
};

// The numbers are read one after the other, each by itself right. Any thread.
ServerView TakeView(const ViewSources& sources, absl::Time start);

// Of unary calls of the method that are not over.
int64_t InFlightOf(const ServerCounts::OfMethod& counts);

}  // namespace opserve::server
