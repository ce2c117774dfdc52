#include "server/access.h"

#include "core/base/status_macros.h"

namespace opserve::server {

absl::Status Access::Open(const ServerConfig& config) {
  if (config.tls.is_on()) {
    OPSERVE_ASSIGN_OR_RETURN(certificates_, CertificateStore::Open(config.tls));
  }
  if (!config.token_file.empty()) {
    OPSERVE_ASSIGN_OR_RETURN(tokens_, TokenStore::Open(config.token_file));
  }
  gate_ = std::make_unique<Gate>(tokens_.get());
  return absl::OkStatus();
}

void Access::Reload() {
  if (certificates_ != nullptr) certificates_->Reload();
  if (tokens_ != nullptr) tokens_->Reload();
}

}  // namespace opserve::server
