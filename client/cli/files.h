// Whole files, in and out.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace opserve::cli {

// The contents of the file at `path`; of standard input for "-". Errors name the path and say what
// the system said.
absl::StatusOr<std::shared_ptr<const std::string>> ReadFile(const std::string& path);

struct MappedFile {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;  // keeps `bytes`
};

// As ReadFile, but a regular file is mapped into memory: a page is read when it is looked at. The
// file must stay as long as it is.
absl::StatusOr<MappedFile> MapFile(const std::string& path);

// Writes `head` and then `body` to the file at `path`, which is replaced; to standard output for
// "-".
absl::Status WriteFile(const std::string& path, std::string_view head,
                       std::span<const std::byte> body);

// Writes all of `text` to standard output.
absl::Status WriteOutput(std::string_view text);

}  // namespace opserve::cli
