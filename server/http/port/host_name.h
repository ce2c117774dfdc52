// Whom a request says that it is for.
#pragma once

#include <string_view>

namespace opserve::server {

// Whether a Host header ("localhost:8600", "127.0.0.1", "[::1]:8600") is this machine's own: an IP
// address or localhost. Any other name may be a web page's that had its name point here, by which a
// browser lets the page read what the port answers ("DNS rebinding").
bool IsLocalHostHeader(std::string_view host);

}  // namespace opserve::server
