#include "server/tracing/collector.h"

#include <algorithm>
#include <array>

#include <httplib.h>
#include <nlohmann/json.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/strings.h"

namespace opserve::server {
namespace {

constexpr size_t kMaxUrlBytes = 2048;
constexpr size_t kMaxAnswerBytes = size_t{64} << 10;
constexpr size_t kMaxReasonBytes = 256;
constexpr std::chrono::seconds kConnectTimeout{1};
constexpr std::chrono::seconds kAnswerTimeout{5};
constexpr char kDefaultPath[] = "/v1/traces";

absl::Status BadUrl(std::string_view text) {
  return InvalidParameter("--trace-endpoint",
                          "http://HOST[:PORT][/PATH] or https://HOST[:PORT][/PATH], such as "
                          "http://localhost:4318",
                          Quoted(text.substr(0, kMaxUrlBytes)));
}

// Those of a host, a port and a path; so neither a user nor a query, and no blanks.
bool IsPlain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("-._~:/[]%").find(c) != std::string_view::npos;
  });
}

bool IsAuthority(std::string_view text) {
  const size_t end_of_v6 = text.find(']');
  const bool is_v6 = text.starts_with('[') && end_of_v6 != std::string_view::npos;
  const size_t colon = is_v6 ? end_of_v6 + 1 : std::min(text.find(':'), text.size());
  if (colon == 0 || (!is_v6 && text.find_first_of("[]") != std::string_view::npos)) return false;
  if (colon == text.size()) return true;
  int port = 0;
  return text[colon] == ':' && absl::SimpleAtoi(ToAbsl(text.substr(colon + 1)), &port) &&
         port > 0 && port <= 65535;
}

std::string Reason(std::string_view body) { return std::string(body.substr(0, kMaxReasonBytes)); }

class HttpCollector final : public Collector {
 public:
  explicit HttpCollector(const CollectorUrl& url) : path_(url.path), client_(url.origin) {
    client_.set_connection_timeout(kConnectTimeout);
    client_.set_read_timeout(kAnswerTimeout);
    client_.set_write_timeout(kAnswerTimeout);
    client_.set_keep_alive(true);
    client_.set_follow_location(false);
    client_.set_decompress(false);
  }

  CollectorAnswer Send(const std::string& body) override {
    std::string answer;
    httplib::Request request;
    request.method = "POST";
    request.path = path_;
    request.headers.emplace("Content-Type", "application/json");
    request.body = body;
    request.content_receiver = [&answer](const char* bytes, size_t size, uint64_t, uint64_t) {
      if (answer.size() + size > kMaxAnswerBytes) return false;
      answer.append(bytes, size);
      return true;
    };
    const httplib::Result result = client_.send(request);
    if (!result) return {CollectorAnswer::Kind::kTryAgain, httplib::to_string(result.error())};
    return ReadCollectorAnswer(result->status, answer);
  }

  void Abort() override { client_.stop(); }

 private:
  const std::string path_;
  httplib::Client client_;
};

}  // namespace

absl::StatusOr<CollectorUrl> ParseCollectorUrl(std::string_view text) {
  constexpr std::array<std::string_view, 2> kSchemes = {"http://", "https://"};
  if (text.size() > kMaxUrlBytes || !IsPlain(text)) return BadUrl(text);
  for (const std::string_view scheme : kSchemes) {
    if (!text.starts_with(scheme)) continue;
    const size_t end = std::min(text.find('/', scheme.size()), text.size());
    if (!IsAuthority(text.substr(scheme.size(), end - scheme.size()))) return BadUrl(text);
    const std::string_view path = text.substr(end);
    return CollectorUrl{std::string(text.substr(0, end)),
                        path.size() <= 1 ? kDefaultPath : std::string(path)};
  }
  return BadUrl(text);
}

std::unique_ptr<Collector> NewHttpCollector(const CollectorUrl& url) {
  return std::make_unique<HttpCollector>(url);
}

CollectorAnswer ReadCollectorAnswer(int status, std::string_view body) {
  using Kind = CollectorAnswer::Kind;
  if (status >= 200 && status < 300) {
    CollectorAnswer answer;
    const auto json = nlohmann::json::parse(body, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object() || !json.contains("partialSuccess")) return answer;
    const auto& partial = json["partialSuccess"];
    if (!partial.is_object() || !partial.contains("rejectedSpans")) return answer;
    const auto& rejected = partial["rejectedSpans"];
    // A 64-bit number is a string in this encoding; some write it as a number.
    if (rejected.is_string()) {
      int64_t spans = 0;
      if (absl::SimpleAtoi(rejected.get<std::string>(), &spans)) answer.rejected_spans = spans;
    } else if (rejected.is_number_integer()) {
      answer.rejected_spans = rejected.get<int64_t>();
    }
    answer.rejected_spans = std::max<int64_t>(0, answer.rejected_spans);
    return answer;
  }
  constexpr std::array kTryAgain = {429, 502, 503, 504};
  const bool passes = std::find(kTryAgain.begin(), kTryAgain.end(), status) != kTryAgain.end();
  return {passes ? Kind::kTryAgain : Kind::kRefused,
          absl::StrCat("HTTP status ", status, body.empty() ? "" : ": ", Reason(body))};
}

}  // namespace opserve::server
