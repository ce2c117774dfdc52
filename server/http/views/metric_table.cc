// Names end in their unit and, of counters, in _total. What is 0 is there, too, where its labels
// are known from the start, so that rates begin with the first event.
#include <utility>

#include "server/http/views/metric_reads.h"
#include "server/http/views/metrics.h"

namespace opserve::server {
namespace metric {
namespace {

constexpr MetricType kCounter = MetricType::kCounter;
constexpr MetricType kGauge = MetricType::kGauge;
constexpr MetricType kHistogram = MetricType::kHistogram;

std::vector<Metric> ServerMetrics() {
  return {
      {"opserve_build_info",
       kGauge,
       {"version"},
       "Always 1; the version is the label",
       [](View, Series series) { series.Add({OPSERVE_VERSION}, 1.0); }},
      {"opserve_ready",
       kGauge,
       {},
       "1 while the server is to be sent calls, as /readyz says",
       Value([](View view) { return view.not_ready.empty() ? 1.0 : 0.0; })},
      {"opserve_uptime_seconds", kGauge, {}, "Time since the server started", Value([](View view) {
         return absl::ToDoubleSeconds(view.uptime);
       })},
      {"opserve_tls_certificate_expiration_timestamp_seconds",
       kGauge,
       {},
       "With --tls-cert: when the first certificate of its chain expires, in seconds since 1970",
       &AddCertificatesEnd},
      {"process_cpu_seconds_total",
       kCounter,
       {},
       "CPU time of the process, of all its threads",
       Value([](View view) { return absl::ToDoubleSeconds(view.process.cpu_time); })},
      {"process_resident_memory_bytes",
       kGauge,
       {},
       "Memory of the process that is in RAM",
       Value([](View view) { return view.process.resident_bytes; })},
      {"process_open_fds", kGauge, {}, "Open file descriptors of the process", Value([](View view) {
         return view.process.open_descriptors;
       })},
  };
}

std::vector<Metric> RpcMetrics() {
  return {
      {"opserve_rpcs_total",
       kCounter,
       {"method", "code"},
       "Unary calls of the API that ended, by method and gRPC status code",
       &AddRpcs},
      {"opserve_rpc_duration_seconds",
       kHistogram,
       {"method"},
       "Time of unary calls from when the request was there to their status, without the network",
       &AddRpcTimes,
       TimedPart::kRpc},
      {"opserve_rpcs_in_flight",
       kGauge,
       {"method"},
       "Unary calls that have not ended",
       OfMethods(&InFlightOf)},
      {"opserve_rpc_request_bytes_total",
       kCounter,
       {"method"},
       "Bytes of requests, as they came",
       OfMethods(&ServerCounts::OfMethod::request_bytes)},
      {"opserve_rpc_response_bytes_total",
       kCounter,
       {"method"},
       "Bytes of responses, as they left",
       OfMethods(&ServerCounts::OfMethod::response_bytes)},
  };
}

std::vector<Metric> FailureAndBatchMetrics() {
  return {
      {"opserve_errors_total",
       kCounter,
       {"reason"},
       "Errors of calls, of calls inside batches, of sessions' commands and of sessions that were "
       "not opened, by reason (docs/errors.md)",
       &AddErrors},
      {"opserve_batch_size_calls",
       kHistogram,
       {},
       "Calls in each ExecuteBatch that was answered",
       &AddBatchSizes},
      {"opserve_batch_failed_calls_total",
       kCounter,
       {},
       "Calls inside batches that failed",
       OfCounts(&ServerCounts::batch_failed_calls)},
  };
}

std::vector<Metric> SessionMetrics() {
  return {
      {"opserve_sessions", kGauge, {}, "Sessions that are open", Value(&OpenSessions)},
      {"opserve_sessions_opened_total",
       kCounter,
       {},
       "Sessions that were opened",
       OfCounts(&ServerCounts::sessions_opened)},
      {"opserve_sessions_refused_total",
       kCounter,
       {},
       "Sessions that were not opened",
       OfCounts(&ServerCounts::sessions_refused)},
      {"opserve_session_streams",
       kGauge,
       {"device"},
       "Streams that sessions have open",
       OfDevices(&DeviceView::open_streams)},
      {"opserve_session_commands_in_flight",
       kGauge,
       {},
       "Commands of sessions that wait, on streams above all, or run",
       Value(&CommandsInFlight)},
  };
}

std::vector<Metric> SessionTotals() {
  return {
      {"opserve_session_commands_total",
       kCounter,
       {},
       "Commands that came on sessions",
       OfCounts(&ServerCounts::session_commands)},
      {"opserve_session_failed_commands_total",
       kCounter,
       {},
       "Commands that failed",
       OfCounts(&ServerCounts::session_failed_commands)},
      {"opserve_session_request_bytes_total",
       kCounter,
       {},
       "Bytes that came on sessions",
       OfCounts(&ServerCounts::session_request_bytes)},
      {"opserve_session_response_bytes_total",
       kCounter,
       {},
       "Bytes that left on sessions",
       OfCounts(&ServerCounts::session_response_bytes)},
  };
}

std::vector<Metric> OperatorMetrics() {
  return {
      {"opserve_calls_total",
       kCounter,
       {"operator", "code"},
       "Calls of an operator that ended on a device, whichever way they came, by status code",
       &AddCalls},
      {"opserve_call_execution_seconds",
       kHistogram,
       {"operator"},
       "Time that a call ran on its device; of calls in chunks it is in the sum only",
       &AddExecutions,
       TimedPart::kExecution},
      {"opserve_call_queue_seconds",
       kHistogram,
       {"operator"},
       "Time that a call waited for its device; calls that ran at once are not in it",
       &AddWaits,
       TimedPart::kQueue},
      {"opserve_call_input_bytes_total",
       kCounter,
       {"operator"},
       "Bytes of the inputs of calls that ran",
       OfOperators(&OperatorStatistics::input_bytes)},
      {"opserve_call_output_bytes_total",
       kCounter,
       {"operator"},
       "Bytes of the outputs of calls that succeeded",
       OfOperators(&OperatorStatistics::output_bytes)},
  };
}

std::vector<Metric> AdmissionMetrics() {
  return {
      {"opserve_calls_begun_total",
       kCounter,
       {"way"},
       "Calls that ran at once, on the thread that brought them (inline), or waited for a device "
       "(queued)",
       &AddBegun},
      {"opserve_calls_refused_total",
       kCounter,
       {"bound"},
       "Calls that were not admitted, by the bound: calls or bytes in flight, wait, the call's "
       "deadline",
       &AddRefused},
      {"opserve_calls_dropped_total",
       kCounter,
       {"cause"},
       "Calls and batches that were dropped as their deadline passed (expired) or their caller "
       "left (cancelled)",
       &AddDropped},
      {"opserve_calls_in_flight",
       kGauge,
       {},
       "Calls that are queued or run on workers",
       OfEngine(&EngineStatistics::calls_in_flight)},
      {"opserve_in_flight_bytes",
       kGauge,
       {},
       "Inputs, outputs and workspaces of those calls",
       OfEngine(&EngineStatistics::bytes_in_flight)},
      {"opserve_expected_wait_seconds",
       kGauge,
       {},
       "How long a call that came now would wait, by estimate, on the busiest device",
       Value([](View view) { return absl::ToDoubleSeconds(view.engine.expected_wait); })},
  };
}

std::vector<Metric> DeviceMetrics() {
  return {
      {"opserve_device_up",
       kGauge,
       {"device"},
       "1 while the device works, 0 once it is lost",
       OfDevices([](const DeviceView& device) { return device.lost.empty() ? 1.0 : 0.0; })},
      {"opserve_device_threads",
       kGauge,
       {"device"},
       "Threads that compute for the device",
       OfDevices([](const DeviceView& device) { return int64_t{device.info.threads}; })},
      {"opserve_device_memory_limit_bytes",
       kGauge,
       {"device"},
       "Bound on used and cached memory",
       OfPools(&MemoryPool::Stats::limit_bytes)},
      {"opserve_device_memory_used_bytes",
       kGauge,
       {"device"},
       "Memory that is lent to calls, sessions and answers that are leaving",
       OfPools(&MemoryPool::Stats::used_bytes)},
      {"opserve_device_memory_cached_bytes",
       kGauge,
       {"device"},
       "Free memory that is kept warm",
       OfPools(&MemoryPool::Stats::cached_bytes)},
      {"opserve_device_memory_leases_total",
       kCounter,
       {"device", "source"},
       "How often memory was lent, from what was warm (pool) or from the system",
       &AddLeases},
      {"opserve_device_memory_refused_total",
       kCounter,
       {"device"},
       "How often memory was not lent: it would have passed the limit, or one client's share, or "
       "the system had none",
       OfPools(&MemoryPool::Stats::refused)},
  };
}

std::vector<Metric> ConnectionMetrics() {
  return {
      {"opserve_connections",
       kGauge,
       {},
       "Connections of gRPC clients",
       Value(&ServerView::connections)},
      {"opserve_connections_refused_total",
       kCounter,
       {},
       "Connections that were refused, by a bound",
       Value(&ServerView::connections_refused)},
      {"opserve_connections_cut_total",
       kCounter,
       {},
       "Connections that the server cut",
       Value(&ServerView::connections_cut)},
  };
}

std::vector<Metric> HostMemoryMetrics() {
  return {
      {"opserve_plan_cache_entries",
       kGauge,
       {},
       "Plans of small calls that are kept",
       Value([](View view) { return static_cast<int64_t>(view.plans.entries); })},
      {"opserve_plan_cache_bytes", kGauge, {}, "About what they take", Value([](View view) {
         return static_cast<int64_t>(view.plans.bytes);
       })},
      {"opserve_plan_cache_lookups_total",
       kCounter,
       {"result"},
       "Plans that were looked for: hit or miss",
       &AddLookups},
      {"opserve_host_memory_used_bytes",
       kGauge,
       {},
       "What clients take of --host-memory-limit",
       OfHostMemory(&HostMemory::Stats::used_bytes)},
      {"opserve_host_memory_limit_bytes",
       kGauge,
       {},
       "--host-memory-limit",
       OfHostMemory(&HostMemory::Stats::limit_bytes)},
      {"opserve_host_memory_refused_total",
       kCounter,
       {},
       "How often a client was refused more of it",
       OfHostMemory(&HostMemory::Stats::refused)},
  };
}

std::vector<Metric> SharedMemoryMetrics() {
  return {
      {"opserve_shared_memory_regions",
       kGauge,
       {},
       "Regions of shared memory",
       OfSharedMemory(&RegionTable::Stats::regions)},
      {"opserve_shared_memory_used_bytes",
       kGauge,
       {},
       "Their bytes, in whole pages",
       OfSharedMemory(&RegionTable::Stats::bytes)},
      {"opserve_shared_memory_limit_bytes",
       kGauge,
       {},
       "--shared-memory-limit",
       OfSharedMemory(&RegionTable::Stats::limit_bytes)},
      {"opserve_shared_memory_allocated_total",
       kCounter,
       {},
       "Regions that were made",
       OfSharedMemory(&RegionTable::Stats::allocated)},
      {"opserve_shared_memory_refused_total",
       kCounter,
       {},
       "Regions that were refused",
       OfSharedMemory(&RegionTable::Stats::refused)},
      {"opserve_registered_memory_regions",
       kGauge,
       {},
       "Regions of shared memory objects that clients of the Open Inference Protocol registered",
       OfRegisteredMemory(&NamedRegionTable::Stats::regions)},
      {"opserve_registered_memory_bytes",
       kGauge,
       {},
       "Their bytes, as they were registered; what is sparse takes less",
       OfRegisteredMemory(&NamedRegionTable::Stats::bytes)},
  };
}

std::vector<Metric> MakeTable() {
  std::vector<Metric> table;
  for (std::vector<Metric> (*part)() :
       {&ServerMetrics, &RpcMetrics, &FailureAndBatchMetrics, &SessionMetrics, &SessionTotals,
        &OperatorMetrics, &AdmissionMetrics, &DeviceMetrics, &ConnectionMetrics, &HostMemoryMetrics,
        &SharedMemoryMetrics}) {
    for (Metric& metric : part()) table.push_back(std::move(metric));
  }
  return table;
}

}  // namespace
}  // namespace metric

std::span<const Metric> AllMetrics() {
  // Never destroyed: threads may ask when the process ends.
  static const std::vector<Metric>& table = *new std::vector<Metric>(metric::MakeTable());
  return table;
}

}  // namespace opserve::server
