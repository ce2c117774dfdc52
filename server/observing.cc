#include "server/observing.h"

#include <memory>

#include "absl/strings/str_join.h"
#include "core/base/op_error.h"
#include "server/open_addresses.h"
#include "server/tracing/collector.h"

namespace opserve::server {

ObserverOptions ObserverOptionsOf(const TracingConfig& config) {
  ObserverOptions options;
  options.sampled_part = config.sampled_part;
  options.slow_call_time = config.slow_call;
  const absl::StatusOr<CollectorUrl> url = ParseCollectorUrl(config.endpoint);
  if (url.ok()) options.exporter = std::make_unique<SpanExporter>(NewHttpCollector(*url));
  return options;
}

absl::Status CheckChannelz(const std::vector<std::string>& addresses) {
  const std::vector<std::string> open = OpenAddresses(addresses);
  if (open.empty()) return absl::OkStatus();
  return InvalidParameter("--channelz", "every --listen a loopback address or a unix socket",
                          absl::StrJoin(open, ", "));
}

}  // namespace opserve::server
