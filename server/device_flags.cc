#include "server/device_flags.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve::server {
namespace {

constexpr char kLibraryPath[] = "--ascend-library-path";

absl::StatusOr<DeviceSpec> ParseDevice(const std::string& text) {
  absl::StatusOr<DeviceSpec> device = ParseDeviceSpec(text);
  if (device.ok()) return device;
  const ErrorDetail detail = GetErrorDetail(device.status()).value_or(ErrorDetail());
  return InvalidParameter(absl::StrCat("--", detail.parameter), detail.want,
                          absl::StrCat("\"", detail.got, "\""));
}

}  // namespace

void AddDeviceFlags(CLI::App& app, DeviceFlagTexts& texts) {
  app.add_option(
         "--device", texts.devices,
         "Device to run on: cpu[,threads=N][,profile=P], or NPUs, by the runtime's numbers:\n"
         "ascend:2, ascend:0-3, or ascend for all, with the same options. Repeatable; calls that\n"
         "name none run on the first.\n"
         "N: 1 to 1024, default every core that this process may use; for each NPU 4.\n"
         "P: host (default), atlas-a2, atlas-a3, atlas-training, atlas-inference.")
      ->allow_extra_args(false)
      ->default_str(texts.devices.front())
      ->type_name("DEVICE")
      ->group("Devices");
  app.add_option(kLibraryPath, texts.ascend_library_paths,
                 "Where to look for the vendor's libraries for NPUs before the system's places: a\n"
                 "folder, or one library of operators. Repeatable.")
      ->allow_extra_args(false)
      ->type_name("PATH")
      ->group("Devices");
}

absl::StatusOr<std::vector<DeviceSpec>> InterpretDeviceFlags(const DeviceFlagTexts& texts) {
  std::vector<DeviceSpec> devices;
  for (const std::string& text : texts.devices) {
    OPSERVE_ASSIGN_OR_RETURN(DeviceSpec device, ParseDevice(text));
    devices.push_back(std::move(device));
  }
  for (const std::string& path : texts.ascend_library_paths) {
    std::error_code error;
    if (std::filesystem::exists(path, error)) continue;
    return InvalidParameter(kLibraryPath, "a folder or a library",
                            absl::StrCat("\"", path, "\", which is not there"));
  }
  return devices;
}

}  // namespace opserve::server
