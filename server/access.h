// Who may reach the server and call what, as files say that may change while it runs.
#pragma once

#include <memory>

#include "absl/status/status.h"
#include "server/flags/config.h"
#include "server/identity/certificate_store.h"
#include "server/identity/token_store.h"
#include "server/transport/unary/gate.h"

namespace opserve::server {

class Access {
 public:
  // Reads certificates and tokens. Errors name the flag. To be called once, before the others.
  absl::Status Open(const ServerConfig& config);

  // Reads what has changed; to be called now and then. A file with a mistake leaves what there is.
  void Reload();

  const Gate& gate() const { return *gate_; }
  // nullptr where nobody is asked.
  const TokenStore* tokens() const { return tokens_.get(); }
  // nullptr where there is no TLS.
  const CertificateStore* certificates() const { return certificates_.get(); }

 private:
  std::unique_ptr<CertificateStore> certificates_;
  std::unique_ptr<TokenStore> tokens_;  // none where nobody is asked
  std::unique_ptr<Gate> gate_;
};

}  // namespace opserve::server
