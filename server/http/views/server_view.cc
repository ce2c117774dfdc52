#include "server/http/views/server_view.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <system_error>

#include "core/base/strings.h"

namespace opserve::server {
namespace {

int64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  int64_t all_pages = 0;
  int64_t resident_pages = 0;
  file >> all_pages >> resident_pages;
  return resident_pages * ::sysconf(_SC_PAGESIZE);
}

int64_t NumDescriptors() {
  std::error_code error;
  const std::filesystem::directory_iterator open("/proc/self/fd", error);
  return error ? 0 : std::distance(begin(open), end(open));
}

ProcessView ViewProcess() {
  timespec time = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return {.cpu_time = absl::DurationFromTimespec(time),
          .resident_bytes = ResidentBytes(),
          .open_descriptors = NumDescriptors()};
}

DeviceView ViewDevice(Device& device, int64_t open_streams) {
  const absl::Status health = device.health();
  return {.info = device.info(),
          .lost = std::string(ToStd(health.message())),
          .memory = device.memory().stats(),
          .open_streams = open_streams};
}

}  // namespace

ServerView TakeView(const ViewSources& sources, absl::Time start) {
  const absl::Time now = sources.clock.Now();
  ServerView view{.time = now,
                  .uptime = now - start,
                  .not_ready = sources.readiness.reasons(),
                  .process = ViewProcess(),
                  .counts = sources.counters.Sum(),
                  .engine = sources.engine.statistics(),
                  .connections = sources.connections.size(),
                  .connections_refused = sources.connections.refused(),
                  .connections_cut = sources.connections.cut(),
                  .plans = sources.plans.stats(),
                  .host_memory = sources.host_memory.stats(),
                  .errors = sources.counters.recent_errors().Latest(),
                  .exemplars = sources.counters.exemplars().Kept()};
  const auto devices = sources.engine.devices();
  for (size_t i = 0; i < devices.size(); ++i)
    view.devices.push_back(ViewDevice(*devices[i], sources.open_streams.on(i)));
  if (sources.certificates != nullptr) view.certificates_end = sources.certificates->end();
  if (sources.regions != nullptr) view.shared_memory = sources.regions->stats();
  if (sources.named_regions != nullptr) view.registered_memory = sources.named_regions->stats();
  return view;
}

int64_t InFlightOf(const ServerCounts::OfMethod& counts) {
  int64_t calls = counts.begun;
  for (const int64_t ended : counts.ended) calls -= ended;
  return std::max<int64_t>(calls, 0);
}

}  // namespace opserve::server
