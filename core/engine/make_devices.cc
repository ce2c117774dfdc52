#include "core/engine/make_devices.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/thread.h"

namespace opserve {
namespace {

// One device of a spec.
struct DevicePlace {
  const DeviceSpec* spec;
  MakeDevice make;
};

absl::StatusOr<std::vector<DevicePlace>> PlacesOf(const EngineOptions& options) {
  std::vector<DevicePlace> places;
  for (const DeviceSpec& spec : options.devices) {
    const Backend* backend = FindBackend(spec.kind, options.backends);
    if (backend == nullptr) return BadDeviceText("device", "a backend's kind", spec.kind);
    OPSERVE_ASSIGN_OR_RETURN(
        std::vector<MakeDevice> devices,
        backend->find(spec, static_cast<int>(places.size()), options.ascend_library_paths));
    for (MakeDevice& make : devices) places.push_back({&spec, std::move(make)});
  }
  return places;
}

absl::StatusOr<std::unique_ptr<Device>> MakeAt(const DevicePlace& place, size_t number,
                                               const DeviceLimits& limits, const Clock& clock) try {
  return place.make(limits, clock);
} catch (const ThreadError& error) {
  const absl::Status status = NoThread(error);
  return absl::Status(status.code(), absl::StrCat("device ", place.spec->kind, ":", number, ": ",
                                                  status.message()));
}

}  // namespace

absl::StatusOr<std::vector<std::unique_ptr<Device>>> MakeDevices(const EngineOptions& options) {
  OPSERVE_ASSIGN_OR_RETURN(const std::vector<DevicePlace> places, PlacesOf(options));
  const DeviceLimits limits = {
      .memory_limit_bytes = options.memory_limit_bytes / static_cast<int64_t>(places.size()),
      .client_share = options.client_share};
  std::vector<std::unique_ptr<Device>> devices;
  for (const DevicePlace& place : places) {
    OPSERVE_ASSIGN_OR_RETURN(std::unique_ptr<Device> device,
                             MakeAt(place, devices.size(), limits, *options.clock));
    const std::string& name = device->info().name;
    const auto same = [&name](const auto& other) { return other->info().name == name; };
    if (std::any_of(devices.begin(), devices.end(), same))
      return InvalidParameter("device", absl::StrCat(name, " once"), "it twice");
    devices.push_back(std::move(device));
  }
  return devices;
}

}  // namespace opserve
