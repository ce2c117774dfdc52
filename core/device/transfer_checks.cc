#include "core/device/transfer_checks.h"

#include <bit>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"

namespace opserve {
namespace {

constexpr size_t kMaxPatternBytes = 8;

absl::Status Defect(std::string_view want, int64_t got) {
  return MakeError({.reason = ErrorReason::kInternal,
                    .op = {},
                    .parameter = "transfer",
                    .want = std::string(want),
                    .got = absl::StrCat(got, " bytes")});
}

absl::Status CheckSize(int64_t want, int64_t got) {
  if (want == got) return absl::OkStatus();
  return Defect(absl::StrCat(want, " bytes"), got);
}

}  // namespace

absl::Status CheckUpload(const MemoryRange& to, const Fragments& from) {
  return CheckSize(to.size_bytes(), static_cast<int64_t>(from.size_bytes()));
}

absl::Status CheckDownload(const MemoryRange& from, int64_t offset_bytes,
                           std::span<const std::byte> to) {
  const auto bytes = static_cast<int64_t>(to.size());
  if (offset_bytes >= 0 && bytes <= from.size_bytes() - offset_bytes) return absl::OkStatus();
  return Defect(
      absl::StrCat("at most the ", from.size_bytes(), " bytes of the range from ", offset_bytes),
      bytes);
}

absl::Status CheckCopy(const MemoryRange& from, const MemoryRange& to) {
  return CheckSize(to.size_bytes(), from.size_bytes());
}

absl::Status CheckFill(const MemoryRange& to, std::span<const std::byte> pattern) {
  const size_t size = pattern.size();
  if (!std::has_single_bit(size) || size > kMaxPatternBytes)
    return Defect("a pattern of 1, 2, 4 or 8 bytes", static_cast<int64_t>(size));
  if (to.row_bytes % static_cast<int64_t>(size) == 0) return absl::OkStatus();
  return Defect(absl::StrCat("rows of whole patterns of ", size, " bytes"), to.row_bytes);
}

}  // namespace opserve
