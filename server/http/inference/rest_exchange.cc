#include "server/http/inference/rest_exchange.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "server/rest/rest_status.h"

namespace opserve::server {
namespace {

constexpr char kJson[] = "application/json";

std::optional<TraceContext> TraceOf(const HttpHead& head) {
  const std::vector<std::string_view> values = head.All("traceparent");
  return values.size() == 1 ? ParseTraceParent(values.front()) : std::nullopt;
}

// In whole seconds, as HTTP has it.
std::string SecondsUp(absl::Duration time) {
  return absl::StrCat(
      std::max<int64_t>(1, absl::ToInt64Seconds(absl::Ceil(time, absl::Seconds(1)))));
}

}  // namespace

RestHead::RestHead(const HttpHead& head)
    : method(head.method), client(head.client), peer(head.peer), trace(TraceOf(head)) {
  const RestPath path = ParseRestPath(head.path);
  resource = path.resource;
  model = path.model;
  version = path.version;
  region = path.region;
}

Method MethodOf(RestResource resource) {
  switch (resource) {
    case RestResource::kServer:
      return Method::kServerMetadata;
    case RestResource::kLive:
      return Method::kServerLive;
    case RestResource::kReady:
      return Method::kServerReady;
    case RestResource::kModel:
      return Method::kModelMetadata;
    case RestResource::kModelReady:
      return Method::kModelReady;
    case RestResource::kModelConfig:
      return Method::kModelConfig;
    case RestResource::kModelStatistics:
      return Method::kModelStatistics;
    case RestResource::kInfer:
      return Method::kModelInfer;
    case RestResource::kIndex:
      return Method::kRepositoryIndex;
    case RestResource::kRegions:
    case RestResource::kRegister:
    case RestResource::kUnregister:
      return Method::kSystemSharedMemory;
    case RestResource::kNone:
    case RestResource::kCudaRegions:
    case RestResource::kCudaMemory:
    case RestResource::kUnsupported:
      break;
  }
  return Method::kUnsupported;
}

HttpResponse JsonResponse(const RestHead& head, int status, std::string json) {
  HttpResponse response{.status = status, .content_type = kJson, .body = std::move(json)};
  if (!head.allowed_origin.empty()) {
    response.headers.emplace_back("Access-Control-Allow-Origin", head.allowed_origin);
    response.headers.emplace_back("Access-Control-Expose-Headers",
                                  "Inference-Header-Content-Length, Retry-After");
    response.headers.emplace_back("Vary", "Origin");
  }
  return response;
}

HttpResponse ErrorResponse(const RestHead& head, const absl::Status& status) {
  HttpResponse response = JsonResponse(head, HttpStatusOf(status.code()), ErrorJson(status));
  if (response.status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  const std::optional<ErrorDetail> detail = GetErrorDetail(status);
  if (detail.has_value() && detail->retry_after.has_value())
    response.headers.emplace_back("Retry-After", SecondsUp(*detail->retry_after));
  return response;
}

RestExchange::RestExchange(RestState& state, RestHead head, size_t max_body_bytes)
    : state_(state),
      head_(std::move(head)),
      max_body_bytes_(max_body_bytes),
      charge_(state.with.host_memory) {}

void RestExchange::StartTally() {
  const CallOrigin& origin = *this;
  tally_.emplace(with().counters, with().observer, MethodOf(head_.resource), origin, body_.size());
}

HttpResponse RestExchange::Refuse(const absl::Status& status) {
  StartTally();
  HttpResponse response = ErrorResponse(head_, status);
  tally_->Count(status, response.body.size());
  return response;
}

HttpResponse RestExchange::RefuseTooLarge() {
  HttpResponse response =
      Refuse(OutOfRange("body", absl::StrCat("at most ", max_body_bytes_, " bytes"), "more"));
  response.status = 413;
  return response;
}

std::optional<HttpResponse> RestExchange::Expect(uint64_t body_bytes) {
  if (body_bytes > max_body_bytes_) return RefuseTooLarge();
  // Addresses; memory, and the charge for it, come with the bytes.
  body_.reserve(body_bytes);
  return std::nullopt;
}

std::optional<HttpResponse> RestExchange::Take(std::span<const std::byte> piece) {
  if (piece.size() > max_body_bytes_ - body_.size()) {
    DropBody();
    return RefuseTooLarge();
  }
  const absl::Status status = charge_.Add(head_.client, static_cast<int64_t>(piece.size()), "body");
  if (!status.ok()) {
    DropBody();
    return Refuse(status);
  }
  body_.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  return std::nullopt;
}

void RestExchange::End(std::shared_ptr<HttpCall> call) {
  call_ = std::move(call);
  StartTally();
  Run();
}

void RestExchange::Answer(HttpResponse response) {
  tally_->Count(absl::OkStatus(), response.body_bytes());
  call_->Answer(std::move(response));
}

void RestExchange::Fail(const absl::Status& status) {
  HttpResponse response = ErrorResponse(head_, status);
  tally_->Count(status, response.body.size());
  call_->Answer(std::move(response));
}

}  // namespace opserve::server
