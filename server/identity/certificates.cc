#include "server/identity/certificates.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "server/identity/small_file.h"

namespace opserve::server {
namespace {

using Bio = std::unique_ptr<BIO, decltype(&::BIO_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&::EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&::X509_free)>;

Bio BioOf(const std::string& text) {
  return {::BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &::BIO_free};
}

// All that there are, in order; stops at the first that is none.
std::vector<Certificate> ParseAll(const std::string& pem) {
  std::vector<Certificate> all;
  const Bio bio = BioOf(pem);
  while (X509* one = ::PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr))
    all.emplace_back(one, &::X509_free);
  const bool is_at_end = ERR_GET_REASON(::ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ::ERR_clear_error();
  if (!is_at_end) all.clear();
  return all;
}

// Nobody is there to type a pass phrase.
int NoPassPhrase(char* /*buffer*/, int /*size*/, int /*is_writing*/, void* /*data*/) { return -1; }

Key ParseKey(const std::string& pem) {
  const Bio bio = BioOf(pem);
  Key key(::PEM_read_bio_PrivateKey(bio.get(), nullptr, &NoPassPhrase, nullptr), &::EVP_PKEY_free);
  ::ERR_clear_error();
  return key;
}

absl::Time EndOf(const Certificate& certificate) {
  std::tm time = {};
  if (::ASN1_TIME_to_tm(::X509_get0_notAfter(certificate.get()), &time) != 1)
    return absl::InfinitePast();
  return absl::FromTM(time, absl::UTCTimeZone());
}

}  // namespace

absl::StatusOr<Certificates> ReadCertificates(const TlsConfig& files) {
  Certificates read;
  OPSERVE_ASSIGN_OR_RETURN(read.chain, ReadSmallFile(files.certificate_file, kTlsCertFlag));
  OPSERVE_ASSIGN_OR_RETURN(read.key, ReadSmallFile(files.key_file, kTlsKeyFlag));
  if (files.client_ca_file.empty()) return read;
  OPSERVE_ASSIGN_OR_RETURN(read.client_roots,
                           ReadSmallFile(files.client_ca_file, kTlsClientCaFlag));
  if (!read.client_roots.empty()) return read;
  // Else it would stand for no question at all.
  return InvalidParameter(kTlsClientCaFlag, "certificates in PEM", "an empty file");
}

absl::StatusOr<absl::Time> CheckCertificates(const Certificates& certificates, absl::Time now) {
  const std::vector<Certificate> chain = ParseAll(certificates.chain);
  if (chain.empty())
    return InvalidParameter(kTlsCertFlag, "certificates in PEM", "a file without any");
  const Key key = ParseKey(certificates.key);
  if (key == nullptr) {
    return InvalidParameter(kTlsKeyFlag, "a private key in PEM, without a pass phrase",
                            "a file without such a key");
  }
  const bool fits = ::X509_check_private_key(chain.front().get(), key.get()) == 1;
  ::ERR_clear_error();
  if (!fits)
    return InvalidParameter(kTlsKeyFlag, "the key of --tls-cert's first certificate",
                            "another key");
  absl::Time end = absl::InfiniteFuture();
  for (const Certificate& certificate : chain) end = std::min(end, EndOf(certificate));
  if (end <= now) {
    return InvalidParameter(kTlsCertFlag, "certificates that have not expired",
                            absl::StrCat("one that expired on ", absl::FormatTime(end)));
  }
  if (!certificates.client_roots.empty() && ParseAll(certificates.client_roots).empty()) {
    return InvalidParameter(kTlsClientCaFlag, "certificates in PEM", "a file without any");
  }
  return end;
}

}  // namespace opserve::server
