// The certificates that the server shows now: those of its files, which may change while it runs.
#pragma once

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/mutex.h"
#include "server/identity/certificates.h"
#include "server/identity/identity_config.h"

namespace opserve::server {

// Thread-safe.
class CertificateStore {
 public:
  // Errors as ReadCertificates and CheckCertificates.
  static absl::StatusOr<std::unique_ptr<CertificateStore>> Open(const TlsConfig& files);

  // To be called now and then: takes what the files have, if that has changed and is sound. If it
  // is not, the certificates stay what they were, and the log says why, once. Between the writing
  // of a certificate and that of its key the two do not go together: that is such a case.
  void Reload();

  // Never nullptr; another object each time they changed.
  std::shared_ptr<const Certificates> current() const;

  // Until when they can be shown, by the wall clock: the earliest end of the chain.
  absl::Time end() const;

 private:
  CertificateStore(const TlsConfig& files, Certificates certificates, absl::Time end)
      : files_(files),
        current_(std::make_shared<const Certificates>(std::move(certificates))),
        end_(end) {}
  // Whether the files had others.
  absl::StatusOr<bool> TakeChanged();

  const TlsConfig files_;
  mutable Mutex mutex_;
  std::shared_ptr<const Certificates> current_ ABSL_GUARDED_BY(mutex_);
  absl::Time end_ ABSL_GUARDED_BY(mutex_);
  std::string last_problem_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace opserve::server
