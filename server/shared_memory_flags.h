// The flags of opserve-server about memory that it shares with clients on its host.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "absl/status/statusor.h"

namespace opserve::server {

inline constexpr char kAllowSharedMemory[] = "--allow-shared-memory";

struct SharedMemoryConfig {
  std::string socket;  // path; empty = not allowed
  int64_t limit_bytes = 0;
};

// As they came.
struct SharedMemoryFlagTexts {
  std::string address;
  std::string limit = "512MiB";
};

// `texts` must outlive the parsing.
void AddSharedMemoryFlags(CLI::App& app, SharedMemoryFlagTexts& texts);

// `listen` are the server's addresses, none of which it may have.
absl::StatusOr<SharedMemoryConfig> InterpretSharedMemoryFlags(
    const SharedMemoryFlagTexts& texts, const std::vector<std::string>& listen);

}  // namespace opserve::server
