#include "server/identity/certificate_store.h"

#include <utility>

#include "absl/time/clock.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"
#include "server/log/log.h"

namespace opserve::server {
namespace {

void LogTaken(absl::Time end) {
  Log(LogLevel::kInfo, "certificate taken", {{"expires", absl::FormatTime(end)}});
}

}  // namespace

absl::StatusOr<std::unique_ptr<CertificateStore>> CertificateStore::Open(const TlsConfig& files) {
  OPSERVE_ASSIGN_OR_RETURN(Certificates certificates, ReadCertificates(files));
  // Of the wall clock, as its clients'.
  OPSERVE_ASSIGN_OR_RETURN(const absl::Time end, CheckCertificates(certificates, absl::Now()));
  LogTaken(end);
  return std::unique_ptr<CertificateStore>(
      new CertificateStore(files, std::move(certificates), end));
}

absl::StatusOr<bool> CertificateStore::TakeChanged() {
  OPSERVE_ASSIGN_OR_RETURN(Certificates read, ReadCertificates(files_));
  if (read == *current()) return false;
  OPSERVE_ASSIGN_OR_RETURN(const absl::Time end, CheckCertificates(read, absl::Now()));
  const MutexLock lock(mutex_);
  current_ = std::make_shared<const Certificates>(std::move(read));
  end_ = end;
  return true;
}

void CertificateStore::Reload() {
  const absl::StatusOr<bool> taken = TakeChanged();
  std::string problem(ToStd(taken.status().message()));
  const bool is_new = [&] {
    const MutexLock lock(mutex_);
    return std::exchange(last_problem_, problem) != problem;
  }();
  if (taken.ok() && *taken) LogTaken(end());
  if (taken.ok() || !is_new) return;
  Log(LogLevel::kWarning, "certificate not taken",
      {{"error", std::move(problem)}, {"advice", "the one before stays in use"}});
}

absl::Time CertificateStore::end() const {
  const MutexLock lock(mutex_);
  return end_;
}

std::shared_ptr<const Certificates> CertificateStore::current() const {
  const MutexLock lock(mutex_);
  return current_;
}

}  // namespace opserve::server
