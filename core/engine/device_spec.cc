#include "core/engine/device_spec.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"

namespace opserve {

#define OPSERVE_BACKEND(folder, Name)              \
  namespace folder {                               \
  extern constinit const Backend k##Name##Backend; \
  }
#include "core/backends/builtin_backends.inc"
#undef OPSERVE_BACKEND

std::span<const Backend* const> AllBackends() {
  static constexpr const Backend* kBackends[] = {
#define OPSERVE_BACKEND(folder, Name) &folder::k##Name##Backend,
#include "core/backends/builtin_backends.inc"
#undef OPSERVE_BACKEND
  };
  return kBackends;
}

const Backend* FindBackend(std::string_view kind, std::span<const Backend* const> backends) {
  const auto found = std::find_if(backends.begin(), backends.end(),
                                  [kind](const Backend* backend) { return backend->kind == kind; });
  return found == backends.end() ? nullptr : *found;
}

absl::StatusOr<DeviceSpec> ParseDeviceSpec(std::string_view text,
                                           std::span<const Backend* const> backends) {
  const std::vector<std::string> parts = absl::StrSplit(ToAbsl(text), ',');
  const std::pair<std::string, std::string> head =
      absl::StrSplit(parts[0], absl::MaxSplits(':', 1));
  const Backend* backend = FindBackend(head.first, backends);
  if (backend == nullptr) {
    const auto append = [](std::string* out, const Backend* one) { out->append(one->usage); };
    return BadDeviceText("device", absl::StrJoin(backends, ", or ", append), parts[0]);
  }
  DeviceText device{.usage = backend->usage,
                    .all = parts[0],
                    .number = head.second,
                    .has_number = parts[0].size() > head.first.size()};
  for (size_t i = 1; i < parts.size(); ++i)
    device.options.emplace_back(absl::StrSplit(parts[i], absl::MaxSplits('=', 1)));
  DeviceSpec spec;
  spec.kind = head.first;
  OPSERVE_RETURN_IF_ERROR(backend->read(device, spec));
  return spec;
}

}  // namespace opserve
