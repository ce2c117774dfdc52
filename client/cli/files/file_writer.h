// A file that is written piece by piece.
#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"

namespace opserve::cli {

// The file at `path` changes only when Finish succeeds: until then the bytes are in another file
// beside it. Standard output ("-"), and what is no regular file, is written at once. Errors name
// the path and say what the system said.
class FileWriter {
 public:
  static absl::StatusOr<std::unique_ptr<FileWriter>> Open(const std::string& path);
  // Without Finish: removes what was written.
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  absl::Status Append(std::span<const std::byte> bytes);
  absl::Status Finish();

 private:
  FileWriter(std::string path, std::string target, std::string temporary, std::FILE* file);
  absl::Status Failed() const;

  const std::string path_;       // as given
  const std::string target_;     // what `temporary_` becomes
  const std::string temporary_;  // empty: written at once
  std::FILE* file_;
};

}  // namespace opserve::cli
