#include "core/backends/cpu/transfers.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "absl/functional/function_ref.h"
#include "core/base/status_macros.h"
#include "core/device/transfer_checks.h"

namespace opserve::cpu {
namespace {

// Pieces of this size are moved side by side; below it one thread is quicker.
constexpr int64_t kChunkBytes = 256 << 10;

// Calls move(first byte, count) for each chunk of `bytes`.
void InChunks(int64_t bytes, WorkerPool& workers, absl::FunctionRef<void(int64_t, int64_t)> move) {
  workers.ParallelFor((bytes + kChunkBytes - 1) / kChunkBytes, [&](int64_t chunk) {
    const int64_t first = chunk * kChunkBytes;
    move(first, std::min(kChunkBytes, bytes - first));
  });
}

// Calls visit(address, bytes) for each run of memory that holds the region's bytes [first, first +
// count).
template <typename Visit>
void ForEachRun(const MemoryRegion& region, int64_t first, int64_t count, Visit visit) {
  if (count == 0) return;
  int64_t row = first / region.row_bytes;
  int64_t skipped = first % region.row_bytes;
  while (count > 0) {
    const int64_t run = std::min(count, region.row_bytes - skipped);
    visit(region.start + row * region.stride_bytes + skipped, static_cast<size_t>(run));
    count -= run;
    skipped = 0;
    ++row;
  }
}

// The region's bytes [first, first + count), from the same bytes of `from`.
void UploadChunk(const MemoryRegion& to, const Fragments& from, int64_t first, int64_t count) {
  int64_t at = 0;  // of the piece
  for (const std::span<const std::byte> piece : from.pieces()) {
    const int64_t begin = std::max(at, first);
    const int64_t end = std::min(at + static_cast<int64_t>(piece.size()), first + count);
    if (begin < end) {
      const std::byte* source = piece.data() + (begin - at);
      ForEachRun(to, begin, end - begin, [&](std::byte* target, size_t bytes) {
        std::memcpy(target, source, bytes);
        source += bytes;
      });
    }
    at += static_cast<int64_t>(piece.size());
    if (at >= first + count) return;
  }
}

void CopyChunk(const MemoryRegion& from, const MemoryRegion& to, int64_t first, int64_t count) {
  ForEachRun(to, first, count, [&](std::byte* target, size_t bytes) {
    ForEachRun(from, first, static_cast<int64_t>(bytes), [&](const std::byte* source, size_t run) {
      std::memcpy(target, source, run);
      target += run;
    });
    first += static_cast<int64_t>(bytes);
  });
}

// A pattern repeated, so that it is written many at a time.
class PatternBlock {
 public:
  explicit PatternBlock(std::span<const std::byte> pattern) {
    for (size_t i = 0; i < block_.size(); i += pattern.size())
      std::memcpy(block_.data() + i, pattern.data(), pattern.size());
  }

  void Write(std::byte* to, size_t bytes) const {
    for (size_t i = 0; i < bytes; i += block_.size())
      std::memcpy(to + i, block_.data(), std::min(block_.size(), bytes - i));
  }

 private:
  std::array<std::byte, 4096> block_{};
};

}  // namespace

absl::Status Upload(const MemoryRegion& to, const Fragments& from, WorkerPool& workers) {
  OPSERVE_RETURN_IF_ERROR(CheckUpload(to, from));
  InChunks(to.size_bytes(), workers,
           [&](int64_t first, int64_t count) { UploadChunk(to, from, first, count); });
  return absl::OkStatus();
}

absl::Status Download(const MemoryRegion& from, int64_t offset_bytes, std::span<std::byte> to,
                      WorkerPool& workers) {
  OPSERVE_RETURN_IF_ERROR(CheckDownload(from, offset_bytes, to));
  const auto bytes = static_cast<int64_t>(to.size());
  InChunks(bytes, workers, [&](int64_t first, int64_t count) {
    std::byte* target = to.data() + first;
    ForEachRun(from, offset_bytes + first, count, [&](const std::byte* source, size_t run) {
      std::memcpy(target, source, run);
      target += run;
    });
  });
  return absl::OkStatus();
}

absl::Status Copy(const MemoryRegion& from, const MemoryRegion& to, WorkerPool& workers) {
  OPSERVE_RETURN_IF_ERROR(CheckCopy(from, to));
  InChunks(to.size_bytes(), workers,
           [&](int64_t first, int64_t count) { CopyChunk(from, to, first, count); });
  return absl::OkStatus();
}

absl::Status Fill(const MemoryRegion& to, std::span<const std::byte> pattern, WorkerPool& workers) {
  OPSERVE_RETURN_IF_ERROR(CheckFill(to, pattern));
  // Chunks and rows begin with a pattern.
  const PatternBlock block(pattern);
  InChunks(to.size_bytes(), workers, [&](int64_t first, int64_t count) {
    ForEachRun(to, first, count,
               [&](std::byte* target, size_t bytes) { block.Write(target, bytes); });
  });
  return absl::OkStatus();
}

}  // namespace opserve::cpu
