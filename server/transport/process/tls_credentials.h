// TLS, as gRPC speaks it.
#pragma once

#include <memory>

#include <grpcpp/security/server_credentials.h>

#include "server/identity/certificate_store.h"

namespace opserve::server {

// Each new connection is shown the store's certificates of that moment. The store must outlive the
// server that they are used with; connections must be handed to it one after the other.
std::shared_ptr<grpc::ServerCredentials> MakeTlsCredentials(const CertificateStore& store);

}  // namespace opserve::server
