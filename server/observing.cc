#include "server/observing.h"

#include "absl/strings/str_join.h"
#include "core/base/op_error.h"
#include "server/open_addresses.h"

namespace opserve::server {

absl::Status CheckChannelz(const std::vector<std::string>& addresses) {
  const std::vector<std::string> open = OpenAddresses(addresses);
  if (open.empty()) return absl::OkStatus();
  return InvalidParameter("--channelz", "every --listen a loopback address or a unix socket",
                          absl::StrJoin(open, ", "));
}

}  // namespace opserve::server
