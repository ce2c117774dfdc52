// docs/metrics.md, made from the table of metrics.
#pragma once

#include <string>

namespace opserve::docs {

std::string MetricsPage();

}  // namespace opserve::docs
