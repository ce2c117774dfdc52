// Files that others read while the server runs.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace opserve::server {

struct WholeFileOptions {
  std::string_view flag;  // that named the path: for errors
  mode_t mode = 0600;     // within the umask
};

// Writes `text` to a new file that takes the place of what is at `path` when it is whole.
absl::Status WriteWholeFile(const std::string& path, std::string_view text,
                            const WholeFileOptions& options);

}  // namespace opserve::server
