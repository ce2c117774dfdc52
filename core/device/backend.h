// A kind of devices, as a value: how to read its specs, and how to make its devices. The list of
// all backends is core/backends/builtin_backends.inc.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/clock.h"
#include "core/device/device.h"
#include "core/op/profile.h"

namespace opserve {

// "cpu", "cpu,threads=2,profile=atlas-a2", "cpu,numa-node=1", "ascend:0-3".
struct DeviceSpec {
  std::string kind = "cpu";
  int threads = 0;  // 0 = every usable core; of an NPU, 4 that wait for it
  Profile profile = Profile::kHost;
  std::optional<int> numa_node = std::nullopt;  // of the CPU's, whose cores it uses; none = all
  std::vector<int> ids = {};  // of NPUs, the runtime's numbers; none = all that it sees
};

// A spec's text in its parts.
struct DeviceText {
  std::string_view usage;  // the backend's
  std::string all;
  std::string number;  // what stands behind "kind:"
  bool has_number = false;
  std::vector<std::pair<std::string, std::string>> options;  // behind commas: key and value
};

// The memory that a device may have.
struct DeviceLimits {
  int64_t memory_limit_bytes = 0;
  double client_share = 1;  // of it; see SharedLimit
};

// Makes one device. May throw ThreadError.
using MakeDevice = std::function<absl::StatusOr<std::unique_ptr<Device>>(const DeviceLimits& limits,
                                                                         const Clock& clock)>;

struct Backend {
  std::string_view kind;   // "cpu"
  std::string_view usage;  // "cpu[,threads=N][,profile=P][,numa-node=M]"

  // Fills in `spec`, whose kind is set. Errors (161002) name the part of the text.
  absl::Status (*read)(const DeviceText& text, DeviceSpec& spec);

  // The devices of a spec, at least one. `number` is the index of the first in the engine's list;
  // `library_paths` are the folders in which libraries of vendors are searched.
  absl::StatusOr<std::vector<MakeDevice>> (*find)(const DeviceSpec& spec, int number,
                                                  const std::vector<std::string>& library_paths);
};

// Reads the options that every backend has, threads and profile; refuses others.
absl::Status ReadCommonOptions(const DeviceText& text, DeviceSpec& spec);

// The error for a part of a text that is wrong.
absl::Status BadDeviceText(std::string_view parameter, std::string_view want, std::string_view got);

}  // namespace opserve
