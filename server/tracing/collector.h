// Whom spans are sent to: an OpenTelemetry collector, by OTLP/HTTP with JSON.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace opserve::server {

// "http://localhost:4318/v1/traces", in parts.
struct CollectorUrl {
  std::string origin;  // "http://localhost:4318"
  std::string path;    // "/v1/traces" where the URL has none
};

// Of http or https, a host, perhaps a port and a path; no user, query or fragment. Errors (161002)
// name --trace-endpoint.
absl::StatusOr<CollectorUrl> ParseCollectorUrl(std::string_view text);

// What became of a request.
struct CollectorAnswer {
  enum class Kind : uint8_t { kTaken, kTryAgain, kRefused };
  Kind kind = Kind::kTaken;
  std::string why;             // where it was not taken
  int64_t rejected_spans = 0;  // of one that was taken
};

class Collector {
 public:
  virtual ~Collector() = default;
  // Waits for the answer for some seconds at most. One thread.
  virtual CollectorAnswer Send(const std::string& body) = 0;
  // Ends a Send that is under way soon. Any thread.
  virtual void Abort() = 0;
};

// What it answers with is read up to a bound, and redirections are not followed.
std::unique_ptr<Collector> NewHttpCollector(const CollectorUrl& url);

// Of the answer's status and body.
CollectorAnswer ReadCollectorAnswer(int status, std::string_view body);

}  // namespace opserve::server
