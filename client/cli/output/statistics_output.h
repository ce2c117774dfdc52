// What `opserve stats` prints.
#pragma once

#include <string>

#include <opserve/statistics.h>

namespace opserve::cli {

// Everything since the server started.
std::string StatisticsText(const client::Statistics& now);

// What happened from `before` to `now`, a second, and the state now. Of a server that was started
// anew in between, since then.
std::string RatesText(const client::Statistics& before, const client::Statistics& now);

// One JSON object, with a newline. Times are in seconds.
std::string StatisticsJson(const client::Statistics& now, const std::string& target);

}  // namespace opserve::cli
