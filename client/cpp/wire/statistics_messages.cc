#include "client/cpp/wire/messages.h"
#include "client/cpp/wire/read_message.h"
#include "core/base/status_macros.h"
#include "opserve/v1/statistics.pb.h"

namespace opserve::client {
namespace {

MethodStatistics ReadMethod(const v1::MethodStatistics& message) {
  MethodStatistics method{.method = message.method(),
                          .in_flight = message.in_flight(),
                          .request_bytes = message.request_bytes(),
                          .response_bytes = message.response_bytes()};
  for (const v1::StatusCount& ended : message.ended()) {
    int64_t& calls = method.ended[ended.name()];
    calls = SumOfCounts(calls, ended.calls());
  }
  return method;
}

SessionStatistics ReadSessions(const v1::SessionStatistics& message) {
  return {.open = message.open(),
          .opened = message.opened(),
          .refused = message.refused(),
          .commands = message.commands(),
          .answers = message.answers(),
          .failed_commands = message.failed_commands(),
          .request_bytes = message.request_bytes(),
          .response_bytes = message.response_bytes()};
}

EngineStatistics ReadEngine(const v1::EngineStatistics& message) {
  return {.inline_calls = message.inline_calls(),
          .queued_calls = message.queued_calls(),
          .failed_calls = message.failed_calls(),
          .input_bytes = message.input_bytes(),
          .output_bytes = message.output_bytes(),
          .refused_calls = message.refused_calls(),
          .refused_bytes = message.refused_bytes(),
          .refused_wait = message.refused_wait(),
          .refused_deadline = message.refused_deadline(),
          .expired_calls = message.expired_calls(),
          .cancelled_calls = message.cancelled_calls(),
          .queue_wait = absl::Nanoseconds(message.queue_wait_ns()),
          .execution = absl::Nanoseconds(message.execution_ns()),
          .calls_in_flight = message.calls_in_flight(),
          .bytes_in_flight = message.bytes_in_flight(),
          .expected_wait = absl::Nanoseconds(message.expected_wait_ns())};
}

OperatorStatistics ReadOperatorStatistics(const v1::OperatorStatistics& message) {
  return {.op = message.op(),
          .calls = message.calls(),
          .failed_calls = message.failed_calls(),
          .queue_wait = absl::Nanoseconds(message.queue_wait_ns()),
          .execution = absl::Nanoseconds(message.execution_ns()),
          .input_bytes = message.input_bytes(),
          .output_bytes = message.output_bytes()};
}

DeviceStatistics ReadDeviceStatistics(const v1::DeviceStatistics& message) {
  const v1::MemoryInfo& memory = message.memory();
  return {.device = message.device(),
          .memory_limit_bytes = memory.limit_bytes(),
          .memory_used_bytes = memory.used_bytes(),
          .memory_cached_bytes = memory.cached_bytes(),
          .memory_hits = memory.hits(),
          .memory_misses = memory.misses(),
          .memory_largest_lease_bytes = memory.largest_lease_bytes()};
}

SharedMemoryStatistics ReadSharedMemory(const v1::SharedMemoryStatistics& message) {
  return {.regions = message.regions(),
          .bytes = message.bytes(),
          .limit_bytes = message.limit_bytes(),
          .allocated = message.allocated(),
          .refused = message.refused()};
}

}  // namespace

absl::StatusOr<Statistics> ReadStatistics(const Fragments& answer) {
  v1::GetStatisticsResponse message;
  OPSERVE_RETURN_IF_ERROR(ReadMessage(answer, message));
  OPSERVE_RETURN_IF_ERROR(CheckCounts(message));
  Statistics statistics{.uptime = absl::Nanoseconds(message.uptime_ns()),
                        .batch_calls = message.batches().calls(),
                        .batch_failed_calls = message.batches().failed_calls(),
                        .sessions = ReadSessions(message.sessions()),
                        .engine = ReadEngine(message.engine())};
  for (const v1::MethodStatistics& method : message.methods())
    statistics.methods.push_back(ReadMethod(method));
  for (const v1::ReasonCount& count : message.errors()) {
    int64_t& errors = statistics.errors[count.reason()];
    errors = SumOfCounts(errors, count.errors());
  }
  for (const v1::OperatorStatistics& op : message.operators())
    statistics.operators.push_back(ReadOperatorStatistics(op));
  for (const v1::DeviceStatistics& device : message.devices())
    statistics.devices.push_back(ReadDeviceStatistics(device));
  statistics.shared_memory = ReadSharedMemory(message.shared_memory());
  return statistics;
}

}  // namespace opserve::client
