#include "client/acl/remote/remote_provider.h"

#include <utility>
#include <vector>

#include "client/acl/remote/remote_device.h"
#include "client/acl/remote/server_session.h"
#include "client/cpp/values/printable_text.h"
#include "core/base/clock.h"
#include "core/base/status_macros.h"

namespace opserve::acl {
namespace {

using Devices = std::vector<std::unique_ptr<RemoteDevice>>;

class RemoteProvider final : public Provider {
 public:
  RemoteProvider(std::unique_ptr<ServerSession> session, Devices devices)
      : session_(std::move(session)), devices_(std::move(devices)) {}

  std::string soc_name() const override {
    constexpr size_t kMaxProfileBytes = 64;
    const std::string& profile = session_->devices().front().profile;
    return "opserve-" + client::ShortText(client::PrintableText(profile), kMaxProfileBytes);
  }
  int device_count() const override { return static_cast<int>(devices_.size()); }
  ProvidedDevice& device(int index) override { return *devices_[static_cast<size_t>(index)]; }

 private:
  const std::unique_ptr<ServerSession> session_;
  const Devices devices_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Provider>> OpenServer(const std::string& target) {
  const absl::Time deadline = Clock::Real().Now() + kPatience;
  OPSERVE_ASSIGN_OR_RETURN(std::unique_ptr<ServerSession> session,
                           ServerSession::Open(target, deadline));
  Devices devices;
  for (const client::Device& listed : session->devices()) {
    absl::StatusOr<std::unique_ptr<RemoteDevice>> device =
        RemoteDevice::Open(*session, listed.name, deadline);
    if (!device.ok()) return session->Told(device.status());
    devices.push_back(*std::move(device));
  }
  return std::make_unique<RemoteProvider>(std::move(session), std::move(devices));
}

}  // namespace opserve::acl

extern "C" opserve::acl::OpenProviderFunction opserve_acl_open_provider;

extern "C" bool opserve_acl_open_provider(uint32_t version, const char* target,
                                          std::unique_ptr<opserve::acl::Provider>* provider,
                                          absl::Status* status) {
  if (version != opserve::acl::kProviderVersion) return false;
  absl::StatusOr<std::unique_ptr<opserve::acl::Provider>> opened = opserve::acl::OpenServer(target);
  if (!opened.ok()) {
    *status = opened.status();
    return false;
  }
  *provider = *std::move(opened);
  return true;
}
