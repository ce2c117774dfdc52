#include "client/cpp/transport/credentials.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve::client {
namespace {

constexpr std::string_view kCertificate = "-----BEGIN CERTIFICATE-----";
constexpr std::string_view kKey = "PRIVATE KEY-----";

absl::Status CheckPem(std::string_view field, const std::string& text, std::string_view part,
                      std::string_view want) {
  if (text.empty() || text.find(part) != std::string::npos) return absl::OkStatus();
  return InvalidParameter(field, want, "a text without");
}

absl::Status CheckTls(const TlsOptions& tls) {
  OPSERVE_RETURN_IF_ERROR(
      CheckPem("tls.root_ca", tls.root_ca, kCertificate, "certificates in PEM"));
  OPSERVE_RETURN_IF_ERROR(
      CheckPem("tls.certificate", tls.certificate, kCertificate, "certificates in PEM"));
  OPSERVE_RETURN_IF_ERROR(CheckPem("tls.key", tls.key, kKey, "a private key in PEM"));
  if (tls.certificate.empty() == tls.key.empty()) return absl::OkStatus();
  return tls.key.empty() ? MissingParameter("tls.key", "the key of tls.certificate")
                         : MissingParameter("tls.certificate", "the certificate of tls.key");
}

// What RFC 6750 has in a bearer token.
bool MayBeInToken(char c) {
  constexpr std::string_view kOthers = "-._~+/=";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kOthers.find(c) != std::string_view::npos;
}

bool IsUnixSocket(std::string_view target) {
  return target.starts_with("unix:") || target.starts_with("unix-abstract:");
}

absl::Status CheckToken(std::string_view target, const ConnectOptions& options) {
  if (options.token.empty()) return absl::OkStatus();
  // It is a secret: messages do not have it.
  if (!std::all_of(options.token.begin(), options.token.end(), &MayBeInToken))
    return InvalidParameter("token", "letters, digits and -._~+/=", "other characters, too");
  if (options.tls.has_value() || IsUnixSocket(target) || IsLoopback(target))
    return absl::OkStatus();
  return InvalidParameter("token", "TLS, a unix socket or a server on this machine",
                          "an unencrypted connection to another machine");
}

}  // namespace

bool IsLoopback(std::string_view target) {
  const std::string host(target.substr(0, target.rfind(':')));
  in_addr address = {};
  // A name may begin as an address does.
  return host == "localhost" || host == "[::1]" ||
         (::inet_pton(AF_INET, host.c_str(), &address) == 1 &&
          ntohl(address.s_addr) >> 24 == IN_LOOPBACKNET);
}

absl::Status CheckCredentials(std::string_view target, const ConnectOptions& options) {
  if (options.tls.has_value()) OPSERVE_RETURN_IF_ERROR(CheckTls(*options.tls));
  return CheckToken(target, options);
}

std::shared_ptr<grpc::ChannelCredentials> MakeCredentials(const ConnectOptions& options,
                                                          grpc::ChannelArguments& arguments) {
  if (!options.tls.has_value()) return grpc::InsecureChannelCredentials();
  const TlsOptions& tls = *options.tls;
  if (!tls.server_name.empty()) arguments.SetSslTargetNameOverride(tls.server_name);
  return grpc::SslCredentials({.pem_root_certs = tls.root_ca,
                               .pem_private_key = tls.key,
                               .pem_cert_chain = tls.certificate});
}

void AddToken(const std::string& token, grpc::ClientContext& context) {
  if (!token.empty()) context.AddMetadata("authorization", absl::StrCat("Bearer ", token));
}

std::string_view WhyTlsFailed(std::string_view text) {
  struct Cause {
    std::string_view part;  // of what gRPC and OpenSSL say
    std::string_view why;
  };
  constexpr std::array<Cause, 5> kCauses = {{
      {"certificate verify failed",
       ": the server's certificate is not trusted: another CA signed it, or it has expired"},
      {"is not in peer certificate", ": the server's certificate is for another name"},
      {"wrong version number", ": the server does not speak TLS there"},
      {"alert internal error", ": the server accepts no more connections of this client now"},
      // In TLS 1.3 it learns last of what the client shows, and gRPC keeps its alert to itself.
      {"last error: UNAVAILABLE",
       ": the server ended the handshake: it may want a client certificate, or another one"},
  }};
  for (const Cause& cause : kCauses) {
    if (text.find(cause.part) != std::string_view::npos) return cause.why;
  }
  return {};
}

}  // namespace opserve::client
