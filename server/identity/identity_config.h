// What the server shows of itself, and what it asks of its clients.
#pragma once

#include <string>

namespace opserve::server {

// Files in PEM. Of a server without TLS they are empty.
struct TlsConfig {
  std::string certificate_file;  // the server's, then those that lead to the one its clients trust
  std::string key_file;          // without a pass phrase
  std::string client_ca_file;    // whose certificates clients must show; empty: they need none

  bool is_on() const { return !certificate_file.empty(); }
};

}  // namespace opserve::server
