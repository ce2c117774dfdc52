// Files of a few lines, which others may write at any moment.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace opserve::server {

inline constexpr size_t kMaxSmallFileBytes = size_t{1} << 20;

// All of a regular file. Errors (161002) name `flag`, the path and why; so does one that is larger
// than kMaxSmallFileBytes.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path, std::string_view flag);

}  // namespace opserve::server
