#include "docs/metrics_page.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "core/base/duration_buckets.h"
#include "core/base/strings.h"
#include "server/http/views/metrics.h"

namespace opserve::docs {
namespace {

using server::Metric;
using server::MetricType;

constexpr char kHead[] =
    R"(<!-- Made by `build/dev/bin/opserve-docs docs`; do not edit. -->

# Metrics

`opserve-server --http 8600` answers `GET /metrics` on port 8600 of localhost in Prometheus's text format. For Prometheus:

```yaml
scrape_configs:
  - job_name: opserve
    static_configs:
      - targets: ["localhost:8600"]
```

A client whose `Accept` header prefers `application/openmetrics-text`, as Prometheus's does, gets OpenMetrics 1.0 instead, with
[exemplars](observability.md#from-a-slow-bucket-to-a-trace).

Times are in seconds, sizes in bytes. Counters start at 0 with the server. How many series there are is bounded: operators, devices,
methods, codes and reasons are the server's own, and no client can add one. An operator has its series from its first call on, a
status code from the first call that ended with it. The numbers are read one after the other, so a call that is just ending may be in
one and not yet in another. [statistics.md](statistics.md) says more about what is counted when; the counters there are these.

| metric | type | labels | |
|---|---|---|---|
)";

std::string_view TypeName(MetricType type) {
  switch (type) {
    case MetricType::kCounter:
      return "counter";
    case MetricType::kGauge:
      return "gauge";
    case MetricType::kHistogram:
      break;
  }
  return "histogram";
}

std::string Labels(const Metric& metric) {
  std::string labels;
  for (const std::string_view label : metric.labels)
    absl::StrAppend(&labels, labels.empty() ? "`" : ", `", ToAbsl(label), "`");
  return labels;
}

}  // namespace

std::string MetricsPage() {
  std::string page = kHead;
  for (const Metric& metric : server::AllMetrics()) {
    absl::StrAppend(&page, "| `", ToAbsl(metric.name), "` | ", ToAbsl(TypeName(metric.type)), " | ",
                    Labels(metric), " | ", ToAbsl(metric.help), " |\n");
  }
  absl::StrAppend(
      &page,
      "\nThe bounds of the times' histograms are 1, 2 and 5 of each power of ten from 1 µs to ",
      kDurationBoundsNs.back() / 1'000'000'000,
      " s; those of sizes are powers of two. `opserve_shared_memory_…` is there where "
      "shared\nmemory is "
      "allowed, `opserve_registered_memory_…` with `--open-inference-shared-memory`.\n");
  return page;
}

}  // namespace opserve::docs
