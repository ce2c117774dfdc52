// Outputs that come in pieces, on their way to files and into memory.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include <opserve/session.h>

#include "absl/status/statusor.h"
#include "client/cli/files/file_writer.h"

namespace opserve::cli {

// Writes those outputs to .npy files that have one, and gathers the others: RESOURCE_EXHAUSTED for
// more of them than memory may have to hold. Not thread-safe.
class OutputFiles {
 public:
  // Output name → path.
  explicit OutputFiles(std::map<std::string, std::string> files) : files_(std::move(files)) {}

  // As client::OutputSink.
  absl::Status Take(const client::PlannedOutput& output, int64_t offset_bytes,
                    std::span<const std::byte> bytes);
  int64_t taken_bytes() const { return taken_bytes_; }

  // The result, whose tensors are without bytes, with those that were gathered. The files are
  // complete then.
  absl::StatusOr<client::ExecuteResult> Finish(const client::ExecuteResult& result);

 private:
  struct Output {
    std::unique_ptr<FileWriter> file;
    std::shared_ptr<std::byte> bytes;  // where there is no file
  };

  absl::StatusOr<Output*> Find(const std::string& name, const TensorDesc& desc);

  const std::map<std::string, std::string> files_;
  std::map<std::string, Output> outputs_;
  int64_t taken_bytes_ = 0;
  int64_t gathered_bytes_ = 0;
};

}  // namespace opserve::cli
