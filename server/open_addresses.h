// Which addresses other machines can reach.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace opserve::server {

// Whether `address`, one of --listen's, is more than a loopback address or a unix socket. Names are
// resolved, as listening does; one that has no address is not open.
bool IsOpenAddress(std::string_view address);

// Those of `addresses` that are open.
std::vector<std::string> OpenAddresses(const std::vector<std::string>& addresses);

// Whether these --listen addresses, of a server without TLS and without --insecure, are all out of
// other machines' reach.
absl::Status CheckNoneIsOpen(const std::vector<std::string>& addresses);

}  // namespace opserve::server
