#include "server/http/port/http_answer.h"

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace opserve::server {
namespace {

// A browser runs, loads and shows nothing that the page does not hold itself.
#define OPSERVE_CONTENT_POLICY                                                           \
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'self'; " \
  "frame-ancestors 'none'"
constexpr char kPolicy[] = OPSERVE_CONTENT_POLICY;
constexpr char kScriptPolicy[] = OPSERVE_CONTENT_POLICY "; script-src 'self'; connect-src 'self'";
#undef OPSERVE_CONTENT_POLICY

// Of every answer. No other page may show or read it.
constexpr std::array<std::array<const char*, 2>, 5> kHeaders = {{
    {"Cache-Control", "no-store"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Referrer-Policy", "no-referrer"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
}};

struct DestroyResponse {
  void operator()(MHD_Response* response) const { ::MHD_destroy_response(response); }
};

void DropAnswer(void* answer) { delete static_cast<HttpResponse*>(answer); }

// Of an answer in pieces, which the library keeps until it is sent.
MHD_Response* MakePieces(HttpResponse answer) {
  auto kept = std::make_unique<HttpResponse>(std::move(answer));
  std::vector<MHD_IoVec> pieces;
  pieces.push_back({.iov_base = kept->body.data(), .iov_len = kept->body.size()});
  for (const std::span<const std::byte> piece : kept->more) {
    if (!piece.empty()) pieces.push_back({.iov_base = piece.data(), .iov_len = piece.size()});
  }
  MHD_Response* response = ::MHD_create_response_from_iovec(
      pieces.data(), static_cast<unsigned>(pieces.size()), &DropAnswer, kept.get());
  if (response != nullptr) (void)kept.release();
  return response;
}

MHD_Response* MakeWhole(const std::string& body) {
  return ::MHD_create_response_from_buffer(body.size(), const_cast<char*>(body.data()),
                                           MHD_RESPMEM_MUST_COPY);
}

// Above it the body is not copied.
constexpr size_t kCopiedBody = size_t{64} << 10;

}  // namespace

MHD_Result SendAnswer(MHD_Connection* connection, HttpResponse answer) {
  const auto status = static_cast<unsigned>(answer.status);
  const std::vector<std::pair<std::string_view, std::string>> headers = std::move(answer.headers);
  const std::string content_type(answer.content_type);
  const char* policy = answer.runs_script ? kScriptPolicy : kPolicy;
  const bool is_small = answer.more.empty() && answer.body.size() <= kCopiedBody;
  const std::unique_ptr<MHD_Response, DestroyResponse> response(
      is_small ? MakeWhole(answer.body) : MakePieces(std::move(answer)));
  if (response == nullptr) return MHD_NO;
  const auto add = [&response](const char* name, const char* value) {
    ::MHD_add_response_header(response.get(), name, value);
  };
  for (const auto& [name, value] : kHeaders) add(name, value);
  add("Content-Security-Policy", policy);
  if (!content_type.empty()) add("Content-Type", content_type.c_str());
  for (const auto& [name, value] : headers) add(std::string(name).c_str(), value.c_str());
  return ::MHD_queue_response(connection, status, response.get());
}

HttpResponse PlainAnswer(int status, std::string text) {
  return {.status = status, .body = std::move(text)};
}

HttpResponse WithoutBody() { return PlainAnswer(413, "want a request without a body\n"); }

HttpResponse NoSuchMethod() {
  HttpResponse refusal = PlainAnswer(405, "want GET or HEAD\n");
  refusal.headers.emplace_back("Allow", "GET, HEAD");
  return refusal;
}

HttpResponse TooManyRequests() {
  HttpResponse refusal = PlainAnswer(429, "too many requests; try again in a second\n");
  refusal.headers.emplace_back("Retry-After", "1");
  return refusal;
}

}  // namespace opserve::server
