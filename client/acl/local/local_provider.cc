#include "client/acl/local/local_provider.h"

#include <utility>

#include "client/acl/local/local_device.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"
#include "core/op/profile.h"

namespace opserve::acl {
namespace {

class LocalProvider final : public Provider {
 public:
  LocalProvider(std::unique_ptr<Engine> engine, Guarding guarding) : engine_(std::move(engine)) {
    for (const std::unique_ptr<Device>& device : engine_->devices())
      devices_.push_back(std::make_unique<LocalDevice>(*engine_, *device, guarding));
  }

  std::string soc_name() const override {
    const Profile profile = engine_->devices().front()->info().profile;
    return "opserve-" + std::string(ProfileName(profile));
  }
  int device_count() const override { return static_cast<int>(devices_.size()); }
  ProvidedDevice& device(int index) override { return *devices_[static_cast<size_t>(index)]; }

 private:
  const std::unique_ptr<Engine> engine_;
  std::vector<std::unique_ptr<LocalDevice>> devices_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Provider>> OpenLocalProvider(const LocalOptions& options) {
  EngineOptions engine_options;
  engine_options.devices = options.devices;
  engine_options.memory_limit_bytes = options.memory_limit_bytes;
  OPSERVE_ASSIGN_OR_RETURN(std::unique_ptr<Engine> engine, Engine::Create(engine_options));
  return std::make_unique<LocalProvider>(std::move(engine),
                                         options.guard_memory ? Guarding::kOn : Guarding::kOff);
}

}  // namespace opserve::acl
