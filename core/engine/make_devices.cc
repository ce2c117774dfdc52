#include "core/engine/make_devices.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/backends/ascend/ascend_device.h"
#include "core/backends/cpu/cpu_device.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/thread.h"

namespace opserve {
namespace {

using Library = std::shared_ptr<const ascend::AclLibrary>;

// One device of a spec; the spec's number for those that have none.
struct Place {
  const DeviceSpec* spec;
  int id;
};

absl::StatusOr<std::vector<int>> IdsOf(const DeviceSpec& spec, const Library& library) {
  if (!spec.ids.empty()) return spec.ids;
  OPSERVE_ASSIGN_OR_RETURN(const int32_t count, ascend::CountDevices(*library));
  if (count == 0) return InvalidParameter("device", "an NPU that the runtime sees", "none");
  std::vector<int> ids;
  ids.reserve(static_cast<size_t>(count));
  for (int id = 0; id < count; ++id) ids.push_back(id);
  return ids;
}

absl::StatusOr<std::vector<Place>> PlacesOf(const EngineOptions& options, Library& library) {
  std::vector<Place> places;
  for (const DeviceSpec& spec : options.devices) {
    if (spec.kind != "ascend") {
      places.push_back({&spec, static_cast<int>(places.size())});
      continue;
    }
    if (library == nullptr) {
      OPSERVE_ASSIGN_OR_RETURN(library, ascend::AclLibrary::Open(options.ascend_library_paths));
    }
    OPSERVE_ASSIGN_OR_RETURN(const std::vector<int> ids, IdsOf(spec, library));
    for (const int id : ids) places.push_back({&spec, id});
  }
  return places;
}

absl::StatusOr<std::unique_ptr<Device>> MakeDevice(const Place& place, const Library& library,
                                                   int64_t memory_limit_bytes, double client_share,
                                                   const Clock& clock) try {
  const DeviceSpec& spec = *place.spec;
  if (spec.kind == "ascend") {
    return ascend::MakeAscendDevice(library,
                                    {.id = place.id,
                                     .threads = spec.threads,
                                     .profile = spec.profile,
                                     .memory_limit_bytes = memory_limit_bytes,
                                     .client_share = client_share},
                                    clock);
  }
  return cpu::MakeCpuDevice({.name = absl::StrCat("cpu:", place.id),
                             .threads = spec.threads,
                             .profile = spec.profile,
                             .memory_limit_bytes = memory_limit_bytes,
                             .client_share = client_share},
                            clock);
} catch (const ThreadError& error) {
  const absl::Status status = NoThread(error);
  return absl::Status(status.code(), absl::StrCat("device ", place.spec->kind, ":", place.id, ": ",
                                                  status.message()));
}

}  // namespace

absl::StatusOr<std::vector<std::unique_ptr<Device>>> MakeDevices(const EngineOptions& options) {
  Library library;
  OPSERVE_ASSIGN_OR_RETURN(const std::vector<Place> places, PlacesOf(options, library));
  const int64_t share = options.memory_limit_bytes / static_cast<int64_t>(places.size());
  std::vector<std::unique_ptr<Device>> devices;
  for (const Place& place : places) {
    OPSERVE_ASSIGN_OR_RETURN(
        std::unique_ptr<Device> device,
        MakeDevice(place, library, share, options.client_share, *options.clock));
    const std::string& name = device->info().name;
    const auto same = [&name](const auto& other) { return other->info().name == name; };
    if (std::any_of(devices.begin(), devices.end(), same))
      return InvalidParameter("device", absl::StrCat(name, " once"), "it twice");
    devices.push_back(std::move(device));
  }
  return devices;
}

}  // namespace opserve
