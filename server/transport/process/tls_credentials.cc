#include "server/transport/process/tls_credentials.h"

#include <string>

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>

namespace opserve::server {
namespace {

// gRPC's C++ credentials have no means to change a certificate but a watcher of files, which takes
// a certificate and a key that do not go together, and then serves nobody. Its C interface asks at
// each handshake.
class TlsCredentials final : public grpc::ServerCredentials {
 public:
  explicit TlsCredentials(const CertificateStore& store) : store_(store) {
    const bool asks_clients = !store.current()->client_roots.empty();
    credentials_ = grpc_ssl_server_credentials_create_with_options(
        grpc_ssl_server_credentials_create_options_using_config_fetcher(
            asks_clients ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                         : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE,
            &TlsCredentials::Fetch, this));
  }
  ~TlsCredentials() override { grpc_server_credentials_release(credentials_); }
  TlsCredentials(const TlsCredentials&) = delete;
  TlsCredentials& operator=(const TlsCredentials&) = delete;

  void SetAuthMetadataProcessor(
      const std::shared_ptr<grpc::AuthMetadataProcessor>& /*processor*/) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    return grpc_server_add_http2_port(server, address.c_str(), credentials_);
  }

  static grpc_ssl_certificate_config_reload_status Fetch(
      void* self, grpc_ssl_server_certificate_config** config) {
    return static_cast<TlsCredentials*>(self)->Fetch(config);
  }

  grpc_ssl_certificate_config_reload_status Fetch(grpc_ssl_server_certificate_config** config) {
    std::shared_ptr<const Certificates> current = store_.current();
    if (current == shown_) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    const grpc_ssl_pem_key_cert_pair pair = {.private_key = current->key.c_str(),
                                             .cert_chain = current->chain.c_str()};
    // gRPC wants some even where clients are not asked, and the request type is what it heeds then.
    const std::string& roots =
        current->client_roots.empty() ? current->chain : current->client_roots;
    *config = grpc_ssl_server_certificate_config_create(roots.c_str(), &pair, 1);
    shown_ = std::move(current);
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  }

  const CertificateStore& store_;
  grpc_server_credentials* credentials_ = nullptr;
  // By the thread that starts the server, then by the one that hands connections over.
  std::shared_ptr<const Certificates> shown_;
};

}  // namespace

std::shared_ptr<grpc::ServerCredentials> MakeTlsCredentials(const CertificateStore& store) {
  return std::make_shared<TlsCredentials>(store);
}

}  // namespace opserve::server
