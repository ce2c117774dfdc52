#include "server/tracing/otlp_json.h"

#include <algorithm>
#include <array>
#include <iterator>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "core/base/strings.h"
#include "server/tracing/call_spans.h"

namespace opserve::server {
namespace {

using nlohmann::ordered_json;

// Of enums, which the encoding writes as numbers.
constexpr int kKindInternal = 1;
constexpr int kKindServer = 2;
constexpr int kStatusError = 2;

std::string SpanId(absl::FunctionRef<uint64_t()> random) {
  uint64_t id = 0;
  while (id == 0) id = random();  // zeros are no id
  return absl::StrCat(absl::Hex(id, absl::kZeroPad16));
}

std::string UnixNanos(absl::Time time) { return absl::StrCat(absl::ToUnixNanos(time)); }

ordered_json Text(std::string_view key, std::string_view value) {
  ordered_json attribute;
  attribute["key"] = std::string(key);
  attribute["value"]["stringValue"] = std::string(value);
  return attribute;
}

ordered_json NumberAttribute(std::string_view key, int64_t value) {
  ordered_json attribute;
  attribute["key"] = std::string(key);
  attribute["value"]["intValue"] = absl::StrCat(value);
  return attribute;
}

ordered_json Span(const CallRecord& call, const std::string& id, std::string_view name, int kind) {
  ordered_json span;
  span["traceId"] = HexOf(call.trace->trace_id);
  span["spanId"] = id;
  span["name"] = std::string(name);
  span["kind"] = kind;
  return span;
}

// What OpenTelemetry's conventions take for an error of a server's: not what its client did wrong.
bool IsServersError(absl::StatusCode code) {
  constexpr std::array kCodes = {
      absl::StatusCode::kUnknown,       absl::StatusCode::kDeadlineExceeded,
      absl::StatusCode::kUnimplemented, absl::StatusCode::kInternal,
      absl::StatusCode::kUnavailable,   absl::StatusCode::kDataLoss};
  return std::find(kCodes.begin(), kCodes.end(), code) != kCodes.end();
}

std::string_view ServiceOf(const CallRecord& call) {
  if (call.is_session) return "opserve.v1.SessionService";
  return call.is_inference ? "inference.GRPCInferenceService" : "opserve.v1.OperatorService";
}

ordered_json AttributesOf(const CallRecord& call) {
  ordered_json attributes = {
      Text("rpc.system", "grpc"), Text("rpc.service", ServiceOf(call)),
      Text("rpc.method", call.method),
      NumberAttribute("rpc.grpc.status_code", static_cast<int64_t>(call.code)),
      Text("network.peer.address", call.peer)};
  if (!call.op.empty()) attributes.push_back(Text("opserve.operator", call.op));
  if (call.reason.has_value())
    attributes.push_back(Text("opserve.reason", GetErrorReasonInfo(*call.reason).name));
  if (call.calls > 0) attributes.push_back(NumberAttribute("opserve.calls", call.calls));
  if (call.failed_calls > 0)
    attributes.push_back(NumberAttribute("opserve.failed_calls", call.failed_calls));
  attributes.push_back(
      NumberAttribute("opserve.request_bytes", static_cast<int64_t>(call.request_bytes)));
  attributes.push_back(
      NumberAttribute("opserve.response_bytes", static_cast<int64_t>(call.response_bytes)));
  return attributes;
}

void AddSpans(const CallRecord& call, absl::FunctionRef<uint64_t()> random, ordered_json& spans) {
  const std::string id = SpanId(random);
  const std::string name = absl::StrCat(ToAbsl(ServiceOf(call)), "/", ToAbsl(call.method));
  ordered_json span = Span(call, id, name, kKindServer);
  const auto& parent = call.trace->parent_id;
  const bool is_root = std::count(parent.begin(), parent.end(), 0) == std::ssize(parent);
  if (!is_root) span["parentSpanId"] = HexOf(parent);
  span["startTimeUnixNano"] = UnixNanos(StartOf(call));
  span["endTimeUnixNano"] = UnixNanos(call.ended_at);
  span["attributes"] = AttributesOf(call);
  if (IsServersError(call.code)) span["status"]["code"] = kStatusError;
  spans.push_back(std::move(span));
  for (const PhaseSpan& phase : PhasesOf(call)) {
    ordered_json child = Span(call, SpanId(random), phase.name, kKindInternal);
    child["parentSpanId"] = id;
    child["startTimeUnixNano"] = UnixNanos(phase.start);
    child["endTimeUnixNano"] = UnixNanos(phase.end);
    spans.push_back(std::move(child));
  }
}

}  // namespace

std::string OtlpJson(std::span<const CallRecord> calls, std::string_view version,
                     absl::FunctionRef<uint64_t()> random) {
  ordered_json spans = ordered_json::array();
  for (const CallRecord& call : calls) AddSpans(call, random, spans);
  ordered_json scope_spans;
  scope_spans["scope"]["name"] = "opserve";
  scope_spans["scope"]["version"] = std::string(version);
  scope_spans["spans"] = std::move(spans);
  ordered_json resource_spans;
  resource_spans["resource"]["attributes"] = {Text("service.name", "opserve"),
                                              Text("service.version", version)};
  resource_spans["scopeSpans"] = ordered_json::array({std::move(scope_spans)});
  ordered_json request;
  request["resourceSpans"] = ordered_json::array({std::move(resource_spans)});
  return request.dump(-1, ' ', /*ensure_ascii=*/true, ordered_json::error_handler_t::replace);
}

}  // namespace opserve::server
