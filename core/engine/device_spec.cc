// The text form of --device.
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"
#include "core/engine/engine.h"

namespace opserve {
namespace {

std::string_view Given(std::string_view text) { return text.empty() ? "nothing" : text; }

absl::Status ReadThreads(const std::string& value, DeviceSpec& spec) {
  if (absl::SimpleAtoi(value, &spec.threads) && spec.threads >= 1 &&
      spec.threads <= WorkerPool::kMaxThreads) {
    return absl::OkStatus();
  }
  return InvalidParameter("device: threads", absl::StrCat("1 to ", WorkerPool::kMaxThreads),
                          Given(value));
}

absl::Status ReadProfile(const std::string& value, DeviceSpec& spec) {
  const std::optional<Profile> profile = ParseProfile(value);
  if (profile.has_value()) {
    spec.profile = *profile;
    return absl::OkStatus();
  }
  const auto append = [](std::string* out, std::string_view name) { out->append(name); };
  return InvalidParameter("device: profile", absl::StrJoin(ProfileNames(), ", ", append),
                          Given(value));
}

}  // namespace

absl::StatusOr<DeviceSpec> ParseDeviceSpec(std::string_view text) {
  const std::vector<std::string> parts = absl::StrSplit(ToAbsl(text), ',');
  DeviceSpec spec;
  spec.kind = parts[0];
  if (spec.kind != "cpu")
    return InvalidParameter("device", "cpu[,threads=N][,profile=P]", Given(text));
  for (size_t i = 1; i < parts.size(); ++i) {
    const std::pair<std::string, std::string> option =
        absl::StrSplit(parts[i], absl::MaxSplits('=', 1));
    if (option.first == "threads") {
      OPSERVE_RETURN_IF_ERROR(ReadThreads(option.second, spec));
    } else if (option.first == "profile") {
      OPSERVE_RETURN_IF_ERROR(ReadProfile(option.second, spec));
    } else {
      return InvalidParameter("device", "the options threads=N and profile=P", Given(parts[i]));
    }
  }
  return spec;
}

}  // namespace opserve
