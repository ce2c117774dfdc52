#include "client/acl/remote/server_session.h"

#include <memory>

#include <opserve/client.h>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "core/base/clock.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve::acl {
namespace {

constexpr char kVariable[] = "OPSERVE_TARGET";
constexpr size_t kMaxDevices = 1024;
constexpr absl::Duration kFarewell = absl::Seconds(5);

absl::Status BadTarget(const absl::Status& status) {
  const std::optional<ErrorDetail> detail = GetErrorDetail(status);
  if (!detail.has_value()) return status;
  return InvalidParameter(kVariable, detail->want, detail->got);
}

absl::Status CannotBeUsed(const std::string& target, const absl::Status& status) {
  absl::Status told(status.code(), absl::StrCat("the server of ", kVariable, "=", target,
                                                " cannot be used: ", status.message()));
  status.ForEachPayload(
      [&told](absl::string_view url, const absl::Cord& payload) { told.SetPayload(url, payload); });
  return told;
}

}  // namespace

absl::Duration Until(absl::Time deadline) { return deadline - Clock::Real().Now(); }

absl::StatusOr<std::unique_ptr<ServerSession>> ServerSession::Open(const std::string& target,
                                                                   absl::Time deadline) {
  const absl::StatusOr<client::Client> client = client::Client::Connect(target);
  if (!client.ok()) return BadTarget(client.status());
  absl::StatusOr<std::vector<client::Device>> devices =
      client->ListDevices({.timeout = Until(deadline)});
  if (!devices.ok()) return CannotBeUsed(target, devices.status());
  if (devices->empty()) return CannotBeUsed(target, absl::InternalError("it has no devices"));
  if (devices->size() > kMaxDevices) {
    return CannotBeUsed(target, absl::InternalError(absl::StrCat("want at most ", kMaxDevices,
                                                                 " devices, got more")));
  }
  client::SessionOptions options;
  options.start_timeout = Until(deadline);
  absl::StatusOr<client::Session> session = client->OpenSession(std::move(options));
  if (!session.ok()) return CannotBeUsed(target, session.status());
  return std::make_unique<ServerSession>(target, *std::move(devices), *std::move(session));
}

ServerSession::~ServerSession() { session_.Close({.timeout = kFarewell}).IgnoreError(); }

absl::Status ServerSession::CheckAlive() {
  absl::Status status = session_.status();
  if (status.ok()) return status;
  lent_->AwaitReturn(lent_->latest(), absl::InfiniteFuture());
  return absl::UnavailableError(absl::StrCat(
      "the session on ", target_, ", and all that was there, is lost: ", status.message()));
}

absl::Status ServerSession::Told(absl::Status status) {
  if (status.ok()) return status;
  OPSERVE_RETURN_IF_ERROR(CheckAlive());
  return status;
}

}  // namespace opserve::acl
