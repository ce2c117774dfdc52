// What a status says, for matchers.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "core/base/strings.h"

namespace opserve::client {

inline std::string Message(const absl::Status& status) {
  return std::string(ToStd(status.message()));
}

}  // namespace opserve::client
