#include "client/cli/files/file_writer.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

namespace opserve::cli {
namespace {

namespace fs = std::filesystem;

absl::Status SystemError(const std::string& path) {
  return absl::ErrnoToStatus(errno, path == "-" ? "standard output" : path);
}

bool IsReplaced(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return path != "-" && (!fs::exists(status) || fs::is_regular_file(status));
}

// Where a link leads, so that the link stays.
std::string Resolved(const std::string& path) {
  std::error_code error;
  const fs::path resolved = fs::canonical(path, error);
  return error ? path : resolved.string();
}

}  // namespace

FileWriter::FileWriter(std::string path, std::string target, std::string temporary, std::FILE* file)
    : path_(std::move(path)),
      target_(std::move(target)),
      temporary_(std::move(temporary)),
      file_(file) {}

absl::StatusOr<std::unique_ptr<FileWriter>> FileWriter::Open(const std::string& path) {
  const std::string target = IsReplaced(path) ? Resolved(path) : path;
  const std::string temporary =
      IsReplaced(path) ? absl::StrCat(target, ".", getpid(), ".part") : std::string();
  std::FILE* file = stdout;
  if (path != "-") file = std::fopen((temporary.empty() ? target : temporary).c_str(), "wb");
  if (file == nullptr) return SystemError(path);
  return std::unique_ptr<FileWriter>(new FileWriter(path, target, temporary, file));
}

FileWriter::~FileWriter() {
  if (file_ == nullptr) return;
  if (file_ != stdout) std::fclose(file_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

absl::Status FileWriter::Append(std::span<const std::byte> bytes) {
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file_) == bytes.size();
  return written ? absl::OkStatus() : Failed();
}

absl::Status FileWriter::Finish() {
  if (std::fflush(file_) != 0) return Failed();
  if (file_ == stdout) {
    file_ = nullptr;
    return absl::OkStatus();
  }
  if (!temporary_.empty() && std::rename(temporary_.c_str(), target_.c_str()) != 0) return Failed();
  return std::fclose(std::exchange(file_, nullptr)) == 0 ? absl::OkStatus() : Failed();
}

absl::Status FileWriter::Failed() const { return SystemError(path_); }

}  // namespace opserve::cli
