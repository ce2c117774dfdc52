#include "server/codec/statistics_codec.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "core/base/op_error.h"
#include "server/codec/schema_codec.h"

namespace opserve::server {
namespace {

static_assert(kNumStatusCodes == static_cast<size_t>(absl::StatusCode::kUnauthenticated) + 1);

void EncodeMethod(Method method, const ServerCounts::OfMethod& counts,
                  v1::MethodStatistics& message) {
  message.set_method(std::string(MethodName(method)));
  for (size_t code = 0; code < counts.ended.size(); ++code) {
    if (counts.ended[code] == 0) continue;
    v1::StatusCount& ended = *message.add_ended();
    ended.set_code(static_cast<int>(code));
    ended.set_name(absl::StatusCodeToString(static_cast<absl::StatusCode>(code)));
    ended.set_calls(counts.ended[code]);
  }
  const int64_t ended = std::accumulate(counts.ended.begin(), counts.ended.end(), int64_t{0});
  // The numbers were read one after the other.
  message.set_in_flight(std::max<int64_t>(counts.begun - ended, 0));
  message.set_request_bytes(counts.request_bytes);
  message.set_response_bytes(counts.response_bytes);
}

void EncodeErrors(const ServerCounts& counts, v1::GetStatisticsResponse& message) {
  for (size_t i = 0; i < counts.errors.size(); ++i) {
    if (counts.errors[i] == 0) continue;
    v1::ReasonCount& count = *message.add_errors();
    count.set_reason(std::string(ErrorReasons()[i].name));
    count.set_errors(counts.errors[i]);
  }
}

void EncodeSessions(const ServerCounts& counts, v1::SessionStatistics& message) {
  message.set_open(std::max<int64_t>(counts.sessions_opened - counts.sessions_closed, 0));
  message.set_opened(counts.sessions_opened);
  message.set_refused(counts.sessions_refused);
  message.set_commands(counts.session_commands);
  message.set_answers(counts.session_answers);
  message.set_failed_commands(counts.session_failed_commands);
  message.set_request_bytes(counts.session_request_bytes);
  message.set_response_bytes(counts.session_response_bytes);
}

void EncodeEngine(const EngineStatistics& statistics, v1::EngineStatistics& message) {
  message.set_inline_calls(statistics.inline_calls);
  message.set_queued_calls(statistics.queued_calls);
  message.set_failed_calls(statistics.failed_calls);
  message.set_input_bytes(statistics.input_bytes);
  message.set_output_bytes(statistics.output_bytes);
  message.set_refused_calls(statistics.refused_calls);
  message.set_refused_bytes(statistics.refused_bytes);
  message.set_refused_wait(statistics.refused_wait);
  message.set_refused_deadline(statistics.refused_deadline);
  message.set_expired_calls(statistics.expired_calls);
  message.set_cancelled_calls(statistics.cancelled_calls);
  message.set_queue_wait_ns(absl::ToInt64Nanoseconds(statistics.queue_wait));
  message.set_execution_ns(absl::ToInt64Nanoseconds(statistics.execution));
  message.set_calls_in_flight(statistics.calls_in_flight);
  message.set_bytes_in_flight(statistics.bytes_in_flight);
  message.set_expected_wait_ns(absl::ToInt64Nanoseconds(statistics.expected_wait));
}

void EncodeOperator(const OperatorStatistics& statistics, v1::OperatorStatistics& message) {
  message.set_op(std::string(statistics.op));
  message.set_calls(statistics.calls);
  message.set_failed_calls(statistics.failed_calls);
  message.set_queue_wait_ns(absl::ToInt64Nanoseconds(statistics.queue_wait));
  message.set_execution_ns(absl::ToInt64Nanoseconds(statistics.execution));
  message.set_input_bytes(statistics.input_bytes);
  message.set_output_bytes(statistics.output_bytes);
}

void EncodeDeviceStatistics(Device& device, v1::DeviceStatistics& message) {
  message.set_device(device.info().name);
  *message.mutable_memory() = EncodeMemory(device.memory().stats());
}

}  // namespace

v1::GetStatisticsResponse EncodeStatistics(const ServerCounts& counts, const Engine& engine,
                                           absl::Duration uptime) {
  v1::GetStatisticsResponse message;
  message.set_uptime_ns(absl::ToInt64Nanoseconds(uptime));
  for (size_t i = 0; i < kNumMethods; ++i)
    EncodeMethod(static_cast<Method>(i), counts.methods[i], *message.add_methods());
  EncodeErrors(counts, message);
  message.mutable_batches()->set_calls(counts.batch_calls);
  message.mutable_batches()->set_failed_calls(counts.batch_failed_calls);
  EncodeSessions(counts, *message.mutable_sessions());
  const EngineStatistics counted = engine.statistics();
  EncodeEngine(counted, *message.mutable_engine());
  for (const OperatorStatistics& statistics : counted.operators)
    EncodeOperator(statistics, *message.add_operators());
  for (const std::unique_ptr<Device>& device : engine.devices())
    EncodeDeviceStatistics(*device, *message.add_devices());
  return message;
}

}  // namespace opserve::server
