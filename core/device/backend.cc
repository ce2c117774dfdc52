#include "core/device/backend.h"

#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/workers/worker_pool.h"

namespace opserve {
namespace {

absl::Status ReadThreads(const std::string& value, DeviceSpec& spec) {
  if (absl::SimpleAtoi(value, &spec.threads) && spec.threads >= 1 &&
      spec.threads <= WorkerPool::kMaxThreads) {
    return absl::OkStatus();
  }
  return BadDeviceText("device: threads", absl::StrCat("1 to ", WorkerPool::kMaxThreads), value);
}

absl::Status ReadProfile(const std::string& value, DeviceSpec& spec) {
  const std::optional<Profile> profile = ParseProfile(value);
  if (profile.has_value()) {
    spec.profile = *profile;
    return absl::OkStatus();
  }
  const auto append = [](std::string* out, std::string_view name) { out->append(name); };
  return BadDeviceText("device: profile", absl::StrJoin(ProfileNames(), ", ", append), value);
}

}  // namespace

absl::Status BadDeviceText(std::string_view parameter, std::string_view want,
                           std::string_view got) {
  return InvalidParameter(parameter, want, got.empty() ? "nothing" : got);
}

absl::Status ReadCommonOptions(const DeviceText& text, DeviceSpec& spec) {
  for (const auto& [key, value] : text.options) {
    if (key == "threads") {
      OPSERVE_RETURN_IF_ERROR(ReadThreads(value, spec));
    } else if (key == "profile") {
      OPSERVE_RETURN_IF_ERROR(ReadProfile(value, spec));
    } else {
      return BadDeviceText("device", text.usage,
                           value.empty() ? key : absl::StrCat(key, "=", value));
    }
  }
  return absl::OkStatus();
}

}  // namespace opserve
