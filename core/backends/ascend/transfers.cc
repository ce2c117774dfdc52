#include "core/backends/ascend/transfers.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/base/status_macros.h"
#include "core/device/transfer_checks.h"

namespace opserve::ascend {
namespace {

// Of a repeated pattern, sent again and again.
constexpr int64_t kPatternBytes = int64_t{1} << 20;

// Where the next byte of a range is, and how many follow it side by side.
class Cursor {
 public:
  explicit Cursor(const MemoryRange& range) : range_(range) {
    if (range.rows > 1 && range.stride_bytes == range.row_bytes)
      range_ = {.start = range.start, .row_bytes = range.size_bytes()};
  }

  std::byte* at() const { return range_.start + row_ * range_.stride_bytes + column_; }
  int64_t run() const { return range_.row_bytes - column_; }
  // `bytes` may be more than the run; not more than there are.
  void Skip(int64_t bytes) {
    if (range_.row_bytes == 0) return;
    const int64_t column = column_ + bytes;
    row_ += column / range_.row_bytes;
    column_ = column % range_.row_bytes;
  }

 private:
  MemoryRange range_;
  int64_t row_ = 0;
  int64_t column_ = 0;
};

absl::Status Move(Npu& npu, void* to, const void* from, int64_t bytes, int32_t kind) {
  const auto size = static_cast<size_t>(bytes);
  return npu.Check(npu.acl().memcpy(to, size, from, size, kind), "aclrtMemcpy");
}

bool IsOneByte(std::span<const std::byte> pattern) {
  return std::all_of(pattern.begin(), pattern.end(),
                     [&pattern](std::byte byte) { return byte == pattern[0]; });
}

absl::Status FillWithByte(Npu& npu, const MemoryRange& to, std::byte byte, const Workers& workers) {
  Cursor target(to);
  for (int64_t left = to.size_bytes(); left > 0 && !workers.ShouldStop();) {
    const auto run = static_cast<size_t>(target.run());
    OPSERVE_RETURN_IF_ERROR(npu.Check(
        npu.acl().memset(target.at(), run, std::to_integer<int32_t>(byte), run), "aclrtMemset"));
    left -= static_cast<int64_t>(run);
    target.Skip(static_cast<int64_t>(run));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Upload(Npu& npu, const MemoryRange& to, const Fragments& from,
                    const Workers& workers) {
  OPSERVE_RETURN_IF_ERROR(CheckUpload(to, from));
  OPSERVE_RETURN_IF_ERROR(npu.Enter());
  Cursor target(to);
  for (const std::span<const std::byte> piece : from.pieces()) {
    const auto size = static_cast<int64_t>(piece.size());
    for (int64_t done = 0; done < size && !workers.ShouldStop();) {
      const int64_t run = std::min(size - done, target.run());
      OPSERVE_RETURN_IF_ERROR(Move(npu, target.at(), piece.data() + done, run, kAclHostToDevice));
      done += run;
      target.Skip(run);
    }
  }
  return absl::OkStatus();
}

absl::Status Download(Npu& npu, const MemoryRange& from, int64_t offset_bytes,
                      std::span<std::byte> to, const Workers& workers) {
  OPSERVE_RETURN_IF_ERROR(CheckDownload(from, offset_bytes, to));
  OPSERVE_RETURN_IF_ERROR(npu.Enter());
  const auto size = static_cast<int64_t>(to.size());
  Cursor source(from);
  source.Skip(offset_bytes);
  for (int64_t done = 0; done < size && !workers.ShouldStop();) {
    const int64_t run = std::min(size - done, source.run());
    OPSERVE_RETURN_IF_ERROR(Move(npu, to.data() + done, source.at(), run, kAclDeviceToHost));
    done += run;
    source.Skip(run);
  }
  // Work that did not end may have written to memory that others lease by now.
  return npu.health();
}

absl::Status Copy(Npu& npu, const MemoryRange& from, const MemoryRange& to,
                  const Workers& workers) {
  OPSERVE_RETURN_IF_ERROR(CheckCopy(from, to));
  OPSERVE_RETURN_IF_ERROR(npu.Enter());
  Cursor source(from);
  Cursor target(to);
  for (int64_t left = from.size_bytes(); left > 0 && !workers.ShouldStop();) {
    const int64_t run = std::min(source.run(), target.run());
    OPSERVE_RETURN_IF_ERROR(Move(npu, target.at(), source.at(), run, kAclDeviceToDevice));
    left -= run;
    source.Skip(run);
    target.Skip(run);
  }
  return absl::OkStatus();
}

absl::Status Fill(Npu& npu, const MemoryRange& to, std::span<const std::byte> pattern,
                  const Workers& workers) {
  OPSERVE_RETURN_IF_ERROR(CheckFill(to, pattern));
  OPSERVE_RETURN_IF_ERROR(npu.Enter());
  if (IsOneByte(pattern)) return FillWithByte(npu, to, pattern[0], workers);
  std::vector<std::byte> staged(static_cast<size_t>(std::min(to.size_bytes(), kPatternBytes)));
  for (size_t i = 0; i < staged.size(); ++i) staged[i] = pattern[i % pattern.size()];
  const auto size = static_cast<int64_t>(staged.size());
  // A row is a whole number of patterns, and so is the staged piece.
  Cursor target(to);
  for (int64_t left = to.size_bytes(); left > 0 && !workers.ShouldStop();) {
    const int64_t run = std::min(size, target.run());
    OPSERVE_RETURN_IF_ERROR(Move(npu, target.at(), staged.data(), run, kAclHostToDevice));
    left -= run;
    target.Skip(run);
  }
  return absl::OkStatus();
}

}  // namespace opserve::ascend
