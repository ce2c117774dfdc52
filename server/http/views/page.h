// The page for people: a server at a glance.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "server/flags/config.h"
#include "server/http/views/history.h"
#include "server/http/views/server_view.h"

namespace opserve::server {

struct PageOptions {
  std::vector<std::string> addresses;  // of gRPC
  std::vector<FlagValue> flags;
};

// HTML that is whole by itself: no script, nothing from elsewhere. Whatever the texts in it are,
// none is markup. It asks the browser to load it anew every `refresh`; zero: never.
std::string WritePage(const ServerView& view, const History& history, const PageOptions& options,
                      absl::Duration refresh);
inline constexpr std::string_view kPageContentType = "text/html; charset=utf-8";

}  // namespace opserve::server
