#include "core/backends/cpu/transfers.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/base/status_macros.h"
#include "core/device/transfer_checks.h"

namespace opserve::cpu {
namespace {

// Pieces of this size are moved side by side, of more than kAloneBytes: less takes one thread about
// as long as waking another.
constexpr int64_t kChunkBytes = 256 << 10;
constexpr int64_t kAloneBytes = 2 << 20;
// Of a piece: short rows take about as long as elements.
constexpr int64_t kChunkRows = 32 << 10;

// Calls move(first byte, count) for each chunk of `bytes` in rows of `row_bytes`.
void InChunks(int64_t bytes, int64_t row_bytes, const Workers& workers,
              absl::FunctionRef<void(int64_t, int64_t)> move) {
  if (bytes == 0) return;
  const int64_t most = bytes <= kAloneBytes ? kAloneBytes : kChunkBytes;
  const int64_t of_chunk = row_bytes < most / kChunkRows ? kChunkRows * row_bytes : most;
  workers.ParallelFor((bytes + of_chunk - 1) / of_chunk, [&](int64_t chunk) {
    const int64_t first = chunk * of_chunk;
    move(first, std::min(of_chunk, bytes - first));
  });
}

// Calls visit(address, bytes) for each run of memory that holds the range's bytes [first, first +
// count).
template <typename Visit>
void ForEachRun(const MemoryRange& range, int64_t first, int64_t count, Visit visit) {
  if (count == 0) return;
  int64_t row = first / range.row_bytes;
  int64_t skipped = first % range.row_bytes;
  while (count > 0) {
    const int64_t run = std::min(count, range.row_bytes - skipped);
    visit(range.start + row * range.stride_bytes + skipped, static_cast<size_t>(run));
    count -= run;
    skipped = 0;
    ++row;
  }
}

// Where each piece of `from` begins.
std::vector<int64_t> StartsOf(const Fragments& from) {
  std::vector<int64_t> starts;
  starts.reserve(from.pieces().size());
  int64_t at = 0;
  for (const std::span<const std::byte> piece : from.pieces()) {
    starts.push_back(at);
    at += static_cast<int64_t>(piece.size());
  }
  return starts;
}

// The range's bytes [first, first + count), from the same bytes of `from`.
void UploadChunk(const MemoryRange& to, const Fragments& from, const std::vector<int64_t>& starts,
                 int64_t first, int64_t count) {
  // The last piece that does not begin behind `first`.
  auto i = static_cast<size_t>(std::upper_bound(starts.begin(), starts.end(), first) -
                               starts.begin() - 1);
  for (; count > 0; ++i) {
    const std::span<const std::byte> piece = from.pieces()[i];
    const int64_t skipped = first - starts[i];
    const int64_t run = std::min(count, static_cast<int64_t>(piece.size()) - skipped);
    const std::byte* source = piece.data() + skipped;
    ForEachRun(to, first, run, [&](std::byte* target, size_t bytes) {
      std::memcpy(target, source, bytes);
      source += bytes;
    });
    first += run;
    count -= run;
  }
}

void CopyChunk(const MemoryRange& from, const MemoryRange& to, int64_t first, int64_t count) {
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

absl::Status Upload(const MemoryRange& to, const Fragments& from, const Workers& workers) {
  OPSERVE_RETURN_IF_ERROR(CheckUpload(to, from));
  const std::vector<int64_t> starts = StartsOf(from);
  InChunks(to.size_bytes(), to.row_bytes, workers,
           [&](int64_t first, int64_t count) { UploadChunk(to, from, starts, first, count); });
  return absl::OkStatus();
}

absl::Status Download(const MemoryRange& from, int64_t offset_bytes, std::span<std::byte> to,
                      const Workers& workers) {
  OPSERVE_RETURN_IF_ERROR(CheckDownload(from, offset_bytes, to));
  const auto bytes = static_cast<int64_t>(to.size());
  InChunks(bytes, from.row_bytes, workers, [&](int64_t first, int64_t count) {
    std::byte* target = to.data() + first;
    ForEachRun(from, offset_bytes + first, count, [&](const std::byte* source, size_t run) {
      std::memcpy(target, source, run);
      target += run;
    });
  });
  return absl::OkStatus();
}

absl::Status Copy(const MemoryRange& from, const MemoryRange& to, const Workers& workers) {
  OPSERVE_RETURN_IF_ERROR(CheckCopy(from, to));
  InChunks(to.size_bytes(), std::min(from.row_bytes, to.row_bytes), workers,
           [&](int64_t first, int64_t count) { CopyChunk(from, to, first, count); });
  return absl::OkStatus();
}

absl::Status Fill(const MemoryRange& to, std::span<const std::byte> pattern,
                  const Workers& workers) {
  OPSERVE_RETURN_IF_ERROR(CheckFill(to, pattern));
  // Chunks and rows begin with a pattern.
  const PatternBlock block(pattern);
  InChunks(to.size_bytes(), to.row_bytes, workers, [&](int64_t first, int64_t count) {
    ForEachRun(to, first, count,
               [&](std::byte* target, size_t bytes) { block.Write(target, bytes); });
  });
  return absl::OkStatus();
}

}  // namespace opserve::cpu
