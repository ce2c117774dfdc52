// What `opserve stats` prints.
#pragma once

#include <cstdint>
#include <string>

#include <opserve/statistics.h>

namespace opserve::cli {

// Which of the server's methods have a line.
enum class ShownMethods : uint8_t { kCalled, kAll };

// Everything since the server started.
std::string StatisticsText(const client::Statistics& now, ShownMethods shown);

// What happened from `before` to `now`, a second, and the state now. Of a server that was started
// anew in between, since then.
std::string RatesText(const client::Statistics& before, const client::Statistics& now,
                      ShownMethods shown);

// One JSON object with all methods, and a newline. Times are in seconds.
std::string StatisticsJson(const client::Statistics& now, const std::string& target);

}  // namespace opserve::cli
