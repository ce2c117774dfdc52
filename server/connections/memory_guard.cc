#include "server/connections/memory_guard.h"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "core/base/unique_fd.h"

namespace opserve::server {
namespace {

// How often the heap is looked at, for how long free memory is kept after it was used, and how much
// more than that.
constexpr absl::Duration kSampleInterval = absl::Milliseconds(500);
// Who allocates waits meanwhile: milliseconds for a heap in a hundred thousand pieces.
constexpr int kSampleTimeShare = 200;
constexpr absl::Duration kKeptTime = absl::Seconds(6);
constexpr int64_t kKeptBytes = int64_t{64} << 20;
// Giving memory back takes milliseconds.
constexpr absl::Duration kTrimInterval = absl::Milliseconds(500);
// Cut until it is so much below the bound.
constexpr int64_t kRelief = 16;  // a sixteenth
// A connection that has less under way is not what the memory is with.
constexpr int64_t kSuspiciousBytes = int64_t{1} << 20;

// Pages of this process that are nobody else's.
int64_t ReadResidentBytes(int statm) {
  std::array<char, 128> text = {};
  if (::pread(statm, text.data(), text.size() - 1, 0) <= 0) return 0;
  const std::vector<absl::string_view> pages = absl::StrSplit(text.data(), ' ');
  int64_t resident = 0;
  int64_t shared = 0;
  if (pages.size() < 3 || !absl::SimpleAtoi(pages[1], &resident) ||
      !absl::SimpleAtoi(pages[2], &shared)) {
    return 0;
  }
  return (resident - shared) * ::sysconf(_SC_PAGESIZE);
}

MemoryGuard::Heap ReadHeap() {
  const struct mallinfo2 info = ::mallinfo2();
  return {.used_bytes = static_cast<int64_t>(info.uordblks + info.hblkhd),
          .free_bytes = static_cast<int64_t>(info.fordblks)};
}

struct Suspect {
  std::shared_ptr<Connection> connection;
  int64_t bytes;
};

}  // namespace

MemoryGuard::System MemoryGuard::RealSystem() {
  const auto statm = std::make_shared<UniqueFd>(::open("/proc/self/statm", O_RDONLY | O_CLOEXEC));
  return {.resident_bytes = [statm] { return ReadResidentBytes(statm->get()); },
          .heap = ReadHeap,
          .trim = [] { ::malloc_trim(0); }};
}

MemoryGuard::MemoryGuard(int64_t limit_bytes, const ConnectionTable& connections,
                         const Clock& clock, System system)
    : limit_bytes_(limit_bytes),
      connections_(connections),
      clock_(clock),
      system_(std::move(system)) {}

void MemoryGuard::Check() {
  const absl::Time now = clock_.Now();
  if (limit_bytes_ > 0) KeepBelowLimit(now);
  TrimUnused(now);
}

void MemoryGuard::KeepBelowLimit(absl::Time now) {
  if (system_.resident_bytes() <= limit_bytes_) return;
  if (now - last_trim_ >= kTrimInterval) {
    last_trim_ = now;
    system_.trim();
  }
  const int64_t resident = system_.resident_bytes();
  if (resident > limit_bytes_) CutLargest(resident - limit_bytes_ + limit_bytes_ / kRelief);
}

void MemoryGuard::CutLargest(int64_t excess_bytes) const {
  std::vector<Suspect> suspects;
  absl::flat_hash_map<ClientId, int64_t> of_client;
  for (std::shared_ptr<Connection>& connection : connections_.All()) {
    const int64_t bytes = connection->unfinished_bytes();
    if (bytes < kSuspiciousBytes) continue;
    of_client[connection->client()] += bytes;
    suspects.push_back({std::move(connection), bytes});
  }
  std::sort(suspects.begin(), suspects.end(), [&](const Suspect& a, const Suspect& b) {
    const ClientId a_client = a.connection->client();
    const ClientId b_client = b.connection->client();
    if (a_client == b_client) return a.bytes > b.bytes;
    return std::pair(of_client[a_client], a_client) > std::pair(of_client[b_client], b_client);
  });
  if (suspects.empty()) return CutUnixSocket();
  for (const Suspect& suspect : suspects) {
    if (excess_bytes <= 0) return;
    excess_bytes -= suspect.bytes;
    connections_.Cut(
        *suspect.connection,
        absl::StrCat("the process is above its memory limit of ", limit_bytes_, " bytes, and some ",
                     suspect.bytes, " bytes of unfinished requests came by this connection"));
  }
}

void MemoryGuard::CutUnixSocket() const {
  std::shared_ptr<Connection> newest;
  for (std::shared_ptr<Connection>& connection : connections_.All()) {
    if (connection->peer().is_ip()) continue;
    if (newest == nullptr || connection->opened() > newest->opened())
      newest = std::move(connection);
  }
  if (newest == nullptr) return;
  connections_.Cut(*newest,
                   absl::StrCat("the process is above its memory limit of ", limit_bytes_,
                                " bytes, and this unix socket's connection is the newest"));
}

void MemoryGuard::TrimUnused(absl::Time now) {
  if (now < next_sample_) return;
  const Heap heap = system_.heap();
  next_sample_ = now + std::max(kSampleInterval, kSampleTimeShare * (clock_.Now() - now));
  samples_.push_back({now, heap.used_bytes});
  if (now - samples_.front().time < kKeptTime) return;
  while (now - samples_.front().time > kKeptTime) samples_.pop_front();
  const auto most = std::max_element(
      samples_.begin(), samples_.end(),
      [](const Sample& a, const Sample& b) { return a.used_bytes < b.used_bytes; });
  const int64_t resident = system_.resident_bytes();
  least_since_trim_ = std::min(least_since_trim_, resident);
  most_used_since_trim_ = std::max(most_used_since_trim_, heap.used_bytes);
  if (heap.free_bytes < kKeptBytes + most->used_bytes - heap.used_bytes) return;
  // What was given back counts as the heap's still: there is more only where the process took, or
  // let go of, memory since.
  if (resident < least_since_trim_ + kKeptBytes / 2 &&
      heap.used_bytes > most_used_since_trim_ - kKeptBytes / 2) {
    return;
  }
  last_trim_ = now;
  system_.trim();
  least_since_trim_ = system_.resident_bytes();
  most_used_since_trim_ = heap.used_bytes;
}

}  // namespace opserve::server
