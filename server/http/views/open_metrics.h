// The OpenMetrics text format, version 1.0.0: what prometheus-cpp has no writer for.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "server/counters/exemplars.h"

namespace prometheus {
struct ClientMetric;
struct MetricFamily;
}  // namespace prometheus

namespace opserve::server {

// The exemplar of a histogram's bucket; nullptr where there is none.
using ExemplarOf =
    absl::FunctionRef<const Exemplar*(const prometheus::ClientMetric& series, size_t bucket)>;

// A family of counters, gauges or histograms. Names of counters end in _total and those of
// constants in _info, as Prometheus has them; units are read off names.
void AppendOpenMetrics(const prometheus::MetricFamily& family, std::string& text,
                       ExemplarOf exemplar_of);
// Behind the last family.
inline constexpr std::string_view kOpenMetricsEnd = "# EOF\n";

// Whether a client whose Accept headers say this is to be answered so: it names the format, and
// wants it no less than plain text.
bool PrefersOpenMetrics(std::string_view accept);

}  // namespace opserve::server
