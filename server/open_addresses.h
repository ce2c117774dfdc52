// Which addresses other machines can reach.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace opserve::server {

// Whether `address`, one of --listen's, is more than a loopback address or a unix socket. Names are
// resolved, as listening does; one that has no address is not open.
bool IsOpenAddress(std::string_view address);

// Those of `addresses` that are open.
std::vector<std::string> OpenAddresses(const std::vector<std::string>& addresses);

}  // namespace opserve::server
