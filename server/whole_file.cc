#include "server/whole_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/unique_fd.h"

namespace opserve::server {
namespace {

bool WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written <= 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

absl::Status WriteWholeFile(const std::string& path, std::string_view text,
                            const WholeFileOptions& options) {
  const std::string unfinished = absl::StrCat(path, ".", ::getpid());
  ::unlink(unfinished.c_str());  // of a process that had this id before
  {
    const UniqueFd file(::open(unfinished.c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, options.mode));
    if (file.is_open() && WriteAll(file.get(), text) &&
        std::rename(unfinished.c_str(), path.c_str()) == 0) {
      return absl::OkStatus();
    }
  }
  ::unlink(unfinished.c_str());
  return InvalidParameter(options.flag, "a path that can be written", path);
}

}  // namespace opserve::server
