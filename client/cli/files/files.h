// Whole files, in and out.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

namespace opserve::cli {

// How many bytes of a file are wanted, by its start: all of it, or its first MiB.
using BytesWanted = absl::FunctionRef<size_t(std::span<const std::byte> start)>;

// The contents of the file at `path`, of standard input for "-": as far as they are wanted, and a
// byte more where there is one. (A pipe or a device may never end.) Errors name the path and say
// what the system said.
absl::StatusOr<std::shared_ptr<const std::string>> ReadFile(const std::string& path,
                                                            BytesWanted wanted);

struct MappedFile {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;  // keeps `bytes`
};

// As ReadFile, but a regular file is mapped into memory, whole: a page is read when it is looked
// at. The file must stay as long as it is.
absl::StatusOr<MappedFile> MapFile(const std::string& path, BytesWanted wanted);

// Writes `head` and then `body` to the file at `path`, which is replaced; to standard output for
// "-".
absl::Status WriteFile(const std::string& path, std::string_view head,
                       std::span<const std::byte> body);

// Writes all of `text` to standard output. What a terminal would act on is escaped, line breaks
// excepted: it may come from a server.
absl::Status WriteOutput(std::string_view text);

}  // namespace opserve::cli
