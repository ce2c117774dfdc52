// Requests that are answered at once, from what the server knows: health, metadata, statistics.
#pragma once

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "server/http/inference/rest_exchange.h"

namespace opserve::server {

class PromptExchange final : public RestExchange {
 public:
  PromptExchange(RestState& state, RestHead head)
      : RestExchange(state, std::move(head), kMaxBodyBytes) {}

  bool IsWork() const override { return false; }

 private:
  // Bodies are an object with a switch, or nothing.
  static constexpr size_t kMaxBodyBytes = size_t{64} << 10;

  void Run() override;
  // The JSON of an answer; `status` is HTTP's where it is not 200.
  absl::StatusOr<std::string> MakeJson(int& status);
  std::string ReadyJson(bool is_ready, int& status) const;
  absl::StatusOr<std::string> IndexJson() const;
};

}  // namespace opserve::server
