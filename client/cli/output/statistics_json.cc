#include <nlohmann/json.hpp>
#include <utility>

#include "client/cli/output/statistics_output.h"

namespace opserve::cli {
namespace {

using Json = nlohmann::ordered_json;

Json MethodJson(const client::MethodStatistics& method) {
  return {{"method", method.method},
          {"ended", Json(method.ended)},
          {"in_flight", method.in_flight},
          {"request_bytes", method.request_bytes},
          {"response_bytes", method.response_bytes}};
}

Json SessionsJson(const client::SessionStatistics& sessions) {
  return {{"open", sessions.open},
          {"opened", sessions.opened},
          {"refused", sessions.refused},
          {"commands", sessions.commands},
          {"failed_commands", sessions.failed_commands},
          {"answers", sessions.answers},
          {"request_bytes", sessions.request_bytes},
          {"response_bytes", sessions.response_bytes}};
}

Json EngineJson(const client::EngineStatistics& engine) {
  return {{"inline_calls", engine.inline_calls},
          {"queued_calls", engine.queued_calls},
          {"failed_calls", engine.failed_calls},
          {"input_bytes", engine.input_bytes},
          {"output_bytes", engine.output_bytes},
          {"refused_calls", engine.refused_calls},
          {"refused_bytes", engine.refused_bytes},
          {"refused_wait", engine.refused_wait},
          {"refused_deadline", engine.refused_deadline},
          {"expired_calls", engine.expired_calls},
          {"cancelled_calls", engine.cancelled_calls},
          {"queue_wait", absl::ToDoubleSeconds(engine.queue_wait)},
          {"execution", absl::ToDoubleSeconds(engine.execution)},
          {"calls_in_flight", engine.calls_in_flight},
          {"bytes_in_flight", engine.bytes_in_flight},
          {"expected_wait", absl::ToDoubleSeconds(engine.expected_wait)}};
}

Json OperatorJson(const client::OperatorStatistics& op) {
  return {{"operator", op.op},
          {"calls", op.calls},
          {"failed_calls", op.failed_calls},
          {"queue_wait", absl::ToDoubleSeconds(op.queue_wait)},
          {"execution", absl::ToDoubleSeconds(op.execution)},
          {"input_bytes", op.input_bytes},
          {"output_bytes", op.output_bytes}};
}

Json DeviceJson(const client::DeviceStatistics& device) {
  return {{"device", device.device},
          {"memory",
           {{"limit_bytes", device.memory_limit_bytes},
            {"used_bytes", device.memory_used_bytes},
            {"cached_bytes", device.memory_cached_bytes},
            {"hits", device.memory_hits},
            {"misses", device.memory_misses},
            {"largest_lease_bytes", device.memory_largest_lease_bytes}}}};
}

Json SharedMemoryJson(const client::SharedMemoryStatistics& shared) {
  return {{"regions", shared.regions},
          {"bytes", shared.bytes},
          {"limit_bytes", shared.limit_bytes},
          {"allocated", shared.allocated},
          {"refused", shared.refused}};
}

}  // namespace

std::string StatisticsJson(const client::Statistics& now, const std::string& target) {
  Json methods = Json::array();
  for (const client::MethodStatistics& method : now.methods) methods.push_back(MethodJson(method));
  Json operators = Json::array();
  for (const client::OperatorStatistics& op : now.operators) operators.push_back(OperatorJson(op));
  Json devices = Json::array();
  for (const client::DeviceStatistics& device : now.devices) devices.push_back(DeviceJson(device));
  const Json json = {
      {"target", target},
      {"uptime", absl::ToDoubleSeconds(now.uptime)},
      {"methods", std::move(methods)},
      {"errors", Json(now.errors)},
      {"batches", {{"calls", now.batch_calls}, {"failed_calls", now.batch_failed_calls}}},
      {"sessions", SessionsJson(now.sessions)},
      {"engine", EngineJson(now.engine)},
      {"operators", std::move(operators)},
      {"devices", std::move(devices)},
      {"shared_memory", SharedMemoryJson(now.shared_memory)}};
  return json.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace opserve::cli
