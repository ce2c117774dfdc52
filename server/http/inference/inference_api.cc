#include "server/http/inference/inference_api.h"

#include <atomic>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"
#include "server/connections/peer_address.h"
#include "server/http/inference/infer_exchange.h"
#include "server/http/inference/prompt_answer.h"
#include "server/identity/bearer.h"
#include "server/rest/rest_status.h"

namespace opserve::server {
namespace {

bool IsRead(std::string_view method) { return method == "GET" || method == "HEAD"; }

// The methods of HTTP that a resource has.
std::string_view MethodsOf(RestResource resource) {
  switch (resource) {
    case RestResource::kInfer:
    case RestResource::kRegister:
    case RestResource::kUnregister:
    case RestResource::kCudaMemory:
      return "POST";
    case RestResource::kIndex:
    case RestResource::kUnsupported:
      return "GET, HEAD, POST";
    default:
      return "GET, HEAD";
  }
}

bool HasMethod(RestResource resource, std::string_view method) {
  const std::string_view methods = MethodsOf(resource);
  return (IsRead(method) && methods.starts_with("GET")) ||
         (method == "POST" && methods.ends_with("POST"));
}

// None for what everybody may ask: probes bring no token.
std::optional<Role> RoleOf(RestResource resource) {
  switch (resource) {
    case RestResource::kLive:
    case RestResource::kReady:
      return std::nullopt;
    case RestResource::kInfer:
    case RestResource::kRegister:
    case RestResource::kUnregister:
      return Role::kExecute;
    case RestResource::kModelStatistics:
      return Role::kObserve;
    default:
      return Role::kDiscover;
  }
}

bool UsesRegions(RestResource resource) {
  return resource == RestResource::kInfer || resource == RestResource::kRegions ||
         resource == RestResource::kRegister || resource == RestResource::kUnregister;
}

absl::Status NoSuchEncoding(std::string_view encoding) {
  return InvalidParameter("Content-Encoding", "a body that is not compressed", Quoted(encoding));
}

class RestApi final : public InferenceApi {
 public:
  RestApi(const RestContext& context, InferenceApiOptions options)
      : options_(std::move(options)),
        state_(context, static_cast<int64_t>(options_.max_connections * 3 / 4)) {}

  bool Has(std::string_view path) const override { return IsRestPath(path); }
  bool IsHeavy(std::string_view path) const override {
    const RestPath parsed = ParseRestPath(path);  // those that list all models
    return parsed.resource == RestResource::kIndex ||
           (parsed.resource == RestResource::kModelStatistics && parsed.model.empty());
  }
  void SetNotReady() override { state_.is_ready = false; }
  void RefuseCalls() override { refuses_ = true; }

  void Drain(absl::Duration most) override {
    RefuseCalls();
    state_.running.AwaitNone(most);
    state_.running.CancelAll();
  }

  Begun Begin(const HttpHead& http) override {
    RestHead head(http);
    const std::string_view origin = http.First("Origin");
    if (!origin.empty() && IsAllowed(origin)) head.allowed_origin = origin;
    if (http.method == "OPTIONS") return AnswerOptions(head);
    if (head.resource == RestResource::kNone)
      return AnswerPlain(head, 404, "there is no such path");
    if (!HasMethod(head.resource, http.method)) {
      HttpResponse refusal =
          AnswerPlain(head, 405, absl::StrCat("want ", ToAbsl(MethodsOf(head.resource))));
      refusal.headers.emplace_back("Allow", MethodsOf(head.resource));
      return refusal;
    }
    return BeginExchange(http, std::move(head));
  }

 private:
  // A web page may send what asks nothing of its browser to any server that it can reach: what
  // computes is not for pages of others.
  bool IsForeign(const HttpHead& http, const RestHead& head) const {
    const std::string_view origin = http.First("Origin");
    if (origin.empty() || !head.allowed_origin.empty()) return false;
    return origin != absl::StrCat("http://", ToAbsl(http.First("Host")));
  }

  bool IsAllowed(std::string_view origin) const {
    return options_.allowed_origin == "*" || options_.allowed_origin == origin;
  }

  Begun BeginExchange(const HttpHead& http, RestHead head) {
    absl::Status admitted = Admit(http, head);
    if (admitted.ok() && UsesRegions(head.resource) && state_.with.named_regions != nullptr)
      head.user = http.user();
    if (head.resource != RestResource::kInfer) {
      auto exchange = std::make_shared<PromptExchange>(state_, std::move(head));
      if (!admitted.ok()) return exchange->Refuse(admitted);
      return ExpectBody(http, std::move(exchange));
    }
    std::optional<size_t> json_bytes;
    const absl::Status sized = ReadJsonBytes(http, json_bytes);
    auto exchange = std::make_shared<InferExchange>(state_, std::move(head), json_bytes);
    if (admitted.ok()) admitted = sized;
    if (!admitted.ok()) return exchange->Refuse(admitted);
    if (refuses_) return exchange->Refuse(MakeError({.reason = ErrorReason::kDraining}));
    return BeginBody(http, std::move(exchange));
  }

  static Begun BeginBody(const HttpHead& http, std::shared_ptr<InferExchange> exchange) {
    const std::string_view encoding = http.First("Content-Encoding");
    if (!encoding.empty() && !absl::EqualsIgnoreCase(ToAbsl(encoding), "identity")) {
      HttpResponse refusal = exchange->Refuse(NoSuchEncoding(encoding));
      refusal.status = 415;
      return refusal;
    }
    return ExpectBody(http, std::move(exchange));
  }

  static Begun ExpectBody(const HttpHead& http, std::shared_ptr<RestExchange> exchange) {
    uint64_t length = 0;
    if (absl::SimpleAtoi(ToAbsl(http.First("Content-Length")), &length)) {
      if (std::optional<HttpResponse> refusal = exchange->Expect(length)) return *refusal;
    }
    return exchange;
  }

  static absl::Status ReadJsonBytes(const HttpHead& http, std::optional<size_t>& json_bytes) {
    const std::vector<std::string_view> values = http.All(kJsonBytesHeader);
    if (values.empty()) return absl::OkStatus();
    uint64_t bytes = 0;
    if (values.size() > 1 || !absl::SimpleAtoi(ToAbsl(values.front()), &bytes))
      return InvalidParameter(kJsonBytesHeader, "one number of bytes", Quoted(values.front()));
    json_bytes = bytes;
    return absl::OkStatus();
  }

  // A request with a token is its client's, wherever it comes from.
  absl::Status Admit(const HttpHead& http, RestHead& head) const {
    if (!options_.why_not.empty() || IsForeign(http, head)) {
      return MakeError(
          {.reason = ErrorReason::kPermissionDenied,
           .op = {},
           .parameter = options_.why_not.empty() ? "Origin" : "--http",
           .want =
               options_.why_not.empty() ? "none, or that of --http-allow-origin" : options_.why_not,
           .got = options_.why_not.empty() ? Quoted(http.First("Origin")) : "a request to infer"});
    }
    const std::optional<Role> role = RoleOf(head.resource);
    const TokenStore* tokens = state_.with.tokens;
    if (tokens == nullptr || !role.has_value()) return absl::OkStatus();
    const absl::StatusOr<ClientId> client = CheckBearer(*tokens, *role, http.All("Authorization"));
    if (client.ok()) {
      head.client = head.of_token = *client;
    } else {
      tokens->TellRefused(PeerAddress::Parse(head.peer).host(), *role,
                          ToStd(client.status().message()));
    }
    return client.status();
  }

  // What a browser asks before it lets a page call.
  HttpResponse AnswerOptions(const RestHead& head) const {
    HttpResponse response = JsonResponse(head, 204, "");
    response.content_type = "";
    response.headers.emplace_back("Allow",
                                  absl::StrCat(ToAbsl(MethodsOf(head.resource)), ", OPTIONS"));
    if (head.allowed_origin.empty()) return response;
    response.headers.emplace_back("Access-Control-Allow-Methods", "GET, HEAD, POST");
    response.headers.emplace_back(
        "Access-Control-Allow-Headers",
        "Authorization, Content-Type, Inference-Header-Content-Length, traceparent");
    response.headers.emplace_back("Access-Control-Max-Age", "600");
    return response;
  }

  // Of what is no call of the protocol's.
  static HttpResponse AnswerPlain(const RestHead& head, int status, std::string_view error) {
    return JsonResponse(head, status, ErrorJson(absl::NotFoundError(ToAbsl(error))));
  }

  const InferenceApiOptions options_;
  RestState state_;
  std::atomic<bool> refuses_ = false;
};

}  // namespace

std::unique_ptr<InferenceApi> MakeInferenceApi(const RestContext& context,
                                               InferenceApiOptions options) {
  return std::make_unique<RestApi>(context, std::move(options));
}

}  // namespace opserve::server
