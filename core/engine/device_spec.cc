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

constexpr int kMaxNpu = 1023;

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

// "ascend", "ascend:2", "ascend:0-3".
absl::Status ReadKind(const std::string& text, DeviceSpec& spec) {
  const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits(':', 1));
  spec.kind = parts.first;
  if (spec.kind == "cpu" && text == "cpu") return absl::OkStatus();
  if (spec.kind != "ascend") {
    return InvalidParameter("device", "cpu[,threads=N][,profile=P], or ascend[:ID][,…]",
                            Given(text));
  }
  if (text == "ascend") return absl::OkStatus();
  const std::vector<std::string> ends = absl::StrSplit(parts.second, absl::MaxSplits('-', 1));
  int first = 0;
  int last = 0;
  if (!absl::SimpleAtoi(ends.front(), &first) || !absl::SimpleAtoi(ends.back(), &last) ||
      first < 0 || last < first || last > kMaxNpu) {
    return InvalidParameter("device: ascend", absl::StrCat("N, or N-M, from 0 to ", kMaxNpu),
                            Given(parts.second));
  }
  for (int id = first; id <= last; ++id) spec.ids.push_back(id);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DeviceSpec> ParseDeviceSpec(std::string_view text) {
  const std::vector<std::string> parts = absl::StrSplit(ToAbsl(text), ',');
  DeviceSpec spec;
  OPSERVE_RETURN_IF_ERROR(ReadKind(parts[0], spec));
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
