// The flags of opserve-server about what clients may do to it and to each other.
#pragma once

#include <cstdint>
#include <string>

#include <CLI/App.hpp>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace opserve::server {

// What one client may take, and all of them together. Zero is "no bound" where nothing else is
// said.
struct ClientConfig {
  double share = 0.75;                  // see SharedLimit
  int64_t max_connections = 0;          // 0: as many as descriptors allow
  int64_t max_connections_of_peer = 0;  // 0: by its share
  int64_t max_resets_per_second = 100;
  int64_t max_inflated_bytes = 0;  // of a compressed request; 0: such are refused
  absl::Duration answer_timeout = absl::Seconds(30);
  absl::Duration max_call_time = absl::Seconds(60);
  absl::Duration session_idle_timeout;
  int64_t host_memory_limit_bytes = int64_t{1} << 30;
  int64_t process_memory_limit_bytes = 0;
  bool reflection = true;
};

// As they came.
struct ClientFlagTexts {
  std::string share = "75%";
  std::string max_connections = "0";
  std::string max_connections_of_peer = "0";
  std::string max_resets_per_second = "100";
  std::string max_inflated_bytes = "0";
  std::string answer_timeout = "30s";
  std::string max_call_time = "60s";
  std::string session_idle_timeout = "0";
  std::string host_memory_limit;
  std::string process_memory_limit;
  bool no_reflection = false;
};

// `texts` must outlive the parsing.
void AddClientFlags(CLI::App& app, ClientFlagTexts& texts);

// `memory_limit_bytes` is what --memory-limit says.
absl::StatusOr<ClientConfig> InterpretClientFlags(const ClientFlagTexts& texts,
                                                  int64_t memory_limit_bytes,
                                                  int64_t max_message_bytes);

// Three quarters of the memory that this process may use; more where the other limits ask for it.
// Under a sanitizer 0, as its own memory would count.
int64_t DefaultProcessMemoryLimitBytes(int64_t other_limits_bytes);

}  // namespace opserve::server
