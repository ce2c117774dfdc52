// The flags of opserve-server about where it listens.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include <CLI/App.hpp>

#include "absl/status/status.h"

namespace opserve::server {

struct ServerConfig;

// As they came.
struct ListenFlagTexts {
  std::vector<std::string> addresses = {"localhost:8500"};
  std::string port_file;
  std::string unix_socket_mode = "0600";
};

// `texts` must outlive the parsing.
void AddListenFlags(CLI::App& app, ListenFlagTexts& texts);

// Sets `listen`, `port_file` and `unix_socket_mode`.
absl::Status InterpretListenFlags(const ListenFlagTexts& texts, ServerConfig& config);

// OK for "unix:PATH" (a path that fits a socket's address), "host:port", "[v6]:port" with 0 <= port
// <= 65535. Errors (161002) name --listen.
absl::Status CheckListenAddress(std::string_view address);

}  // namespace opserve::server
