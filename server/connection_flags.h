// The flags of opserve-server about connections.
#pragma once

#include <string>

#include <CLI/App.hpp>

#include "absl/status/statusor.h"
#include "server/config.h"

namespace opserve::server {

// As they came.
struct ConnectionFlagTexts {
  std::string max_age = "0";
  std::string max_age_grace = "30s";
  std::string max_idle = "0";
  std::string keepalive_time = "60s";
  std::string keepalive_timeout = "20s";
  int max_concurrent_streams = ConnectionConfig().max_concurrent_streams;
  std::string memory_quota = "0";
};

// `texts` must outlive the parsing.
void AddConnectionFlags(CLI::App& app, ConnectionFlagTexts& texts);

absl::StatusOr<ConnectionConfig> InterpretConnectionFlags(const ConnectionFlagTexts& texts);

}  // namespace opserve::server
