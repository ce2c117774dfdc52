// The server's certificate and key, and whose certificates it takes from clients.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/identity/identity_config.h"

namespace opserve::server {

inline constexpr char kTlsCertFlag[] = "--tls-cert";
inline constexpr char kTlsKeyFlag[] = "--tls-key";
inline constexpr char kTlsClientCaFlag[] = "--tls-client-ca";

// As the files have them, in PEM.
struct Certificates {
  std::string chain;
  std::string key;
  std::string client_roots;  // empty: clients need no certificate

  friend bool operator==(const Certificates&, const Certificates&) = default;
};

// Errors (161002) name the flag, the file and why.
absl::StatusOr<Certificates> ReadCertificates(const TlsConfig& files);

// Until when the server can show its certificate: the earliest end of the chain. An error where it
// cannot at `now`: something is no certificate or no key, the key is another certificate's, or one
// of the chain has expired. It names the flag.
absl::StatusOr<absl::Time> CheckCertificates(const Certificates& certificates, absl::Time now);

}  // namespace opserve::server
