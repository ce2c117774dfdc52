#include "client/cli/files/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "client/cpp/values/printable_text.h"
#include "core/base/status_macros.h"

namespace opserve::cli {
namespace {

constexpr size_t kChunk = size_t{1} << 20;

struct Close {
  void operator()(FILE* file) const {
    if (file != stdin && file != stdout) std::fclose(file);
  }
};
using File = std::unique_ptr<FILE, Close>;

absl::Status Failed(const std::string& path) {
  return absl::ErrnoToStatus(errno, path == "-" ? "standard input or output" : path);
}

bool Write(FILE* file, const void* bytes, size_t size) {
  return size == 0 || std::fwrite(bytes, 1, size, file) == size;
}

// The first `most` bytes of `text`, or a few less, so that no character of UTF-8 is cut.
std::string_view FirstPiece(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  constexpr size_t kLongestCharacter = 4;
  size_t end = most;
  while (end > most - kLongestCharacter && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
    --end;
  return text.substr(0, end);
}

}  // namespace

absl::StatusOr<std::shared_ptr<const std::string>> ReadFile(const std::string& path,
                                                            BytesWanted wanted) {
  const File file(path == "-" ? stdin : std::fopen(path.c_str(), "rb"));
  if (file == nullptr) return Failed(path);
  auto contents = std::make_shared<std::string>();
  size_t most = kChunk;
  while (contents->size() < most) {
    const size_t size = contents->size();
    const size_t chunk = std::min(kChunk, most - size);
    contents->resize(size + chunk);
    const size_t read = std::fread(contents->data() + size, 1, chunk, file.get());
    contents->resize(size + read);
    if (std::ferror(file.get()) != 0) return Failed(path);
    if (read < chunk) break;
    if (size == 0) most = std::max(kChunk, wanted(std::as_bytes(std::span(*contents))) + 1);
  }
  return contents;
}

absl::StatusOr<MappedFile> MapFile(const std::string& path, BytesWanted wanted) {
  struct stat status = {};
  if (path == "-" || stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_size == 0) {
    OPSERVE_ASSIGN_OR_RETURN(const std::shared_ptr<const std::string> contents,
                             ReadFile(path, wanted));
    return MappedFile{std::as_bytes(std::span(*contents)), contents};
  }
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return Failed(path);
  const auto size = static_cast<size_t>(status.st_size);
  void* const memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  const absl::Status mapped = memory == MAP_FAILED ? Failed(path) : absl::OkStatus();
  close(file);
  if (!mapped.ok()) return mapped;
  madvise(memory, size, MADV_SEQUENTIAL);
  const std::shared_ptr<const void> owner(
      static_cast<const void*>(memory),
      [memory, size](const void* /*same*/) { munmap(memory, size); });
  return MappedFile{{static_cast<const std::byte*>(memory), size}, owner};
}

absl::Status WriteFile(const std::string& path, std::string_view head,
                       std::span<const std::byte> body) {
  const File file(path == "-" ? stdout : std::fopen(path.c_str(), "wb"));
  if (file == nullptr) return Failed(path);
  const bool written = Write(file.get(), head.data(), head.size()) &&
                       Write(file.get(), body.data(), body.size()) && std::fflush(file.get()) == 0;
  return written ? absl::OkStatus() : Failed(path);
}

absl::Status WriteOutput(std::string_view text) {
  while (!text.empty()) {
    const std::string_view piece = FirstPiece(text, kChunk);
    OPSERVE_RETURN_IF_ERROR(
        WriteFile("-", client::PrintableText(piece, client::LineBreaks::kKept), {}));
    text.remove_prefix(piece.size());
  }
  return absl::OkStatus();
}

}  // namespace opserve::cli
