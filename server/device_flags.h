// The flags of opserve-server about what it runs on.
#pragma once

#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "absl/status/statusor.h"
#include "core/engine/engine.h"

namespace opserve::server {

// As they came.
struct DeviceFlagTexts {
  std::vector<std::string> devices = {"cpu"};
  std::vector<std::string> ascend_library_paths;
};

// `texts` must outlive the parsing.
void AddDeviceFlags(CLI::App& app, DeviceFlagTexts& texts);

// The devices. The paths are as they came; that they are there was checked.
absl::StatusOr<std::vector<DeviceSpec>> InterpretDeviceFlags(const DeviceFlagTexts& texts);

}  // namespace opserve::server
