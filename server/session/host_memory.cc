#include "server/session/host_memory.h"

#include <cstdlib>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve::server {
namespace {

constexpr int64_t kStepBytes = int64_t{64} << 10;

absl::Status Refused(std::string_view parameter, int64_t bytes, int64_t most,
                     absl::string_view of_whom) {
  return MakeError({.reason = ErrorReason::kResourceLimit,
                    .op = {},
                    .parameter = std::string(parameter),
                    .want = absl::StrCat("at most ", most, " bytes of host memory more", of_whom),
                    .got = absl::StrCat(bytes)});
}

// Negative: fewer.
void Count(ClientId client, int64_t bytes, SharedLimit& of) {
  if (bytes > 0) {
    of.Add(client, bytes);
  } else {
    of.Return(client, -bytes);
  }
}

}  // namespace

HostMemory::HostMemory(int64_t limit_bytes, double client_share, const Clock& clock)
    : staging_(std::make_shared<MemoryPool>(limit_bytes / 2 * 3,  // size classes round up
                                            MemorySource::Host(), clock)),
      bytes_(limit_bytes, client_share),
      waiting_(limit_bytes, 1) {}

absl::Status HostMemory::Take(ClientId client, int64_t bytes, std::string_view parameter) {
  const MutexLock lock(mutex_);
  const SharedLimit::Verdict verdict = bytes_.Take(client, bytes);
  if (verdict != SharedLimit::Verdict::kGranted) ++refused_;
  switch (verdict) {
    case SharedLimit::Verdict::kFull:
      return Refused(parameter, bytes, bytes_.limit() - bytes_.used(), " of all clients");
    case SharedLimit::Verdict::kShare:
      return Refused(parameter, bytes, bytes_.MostOf(client) - bytes_.used_by(client),
                     " for this client");
    case SharedLimit::Verdict::kGranted:
      break;
  }
  return absl::OkStatus();
}

void HostMemory::Add(ClientId client, int64_t bytes) {
  const MutexLock lock(mutex_);
  Count(client, bytes, bytes_);
}

void HostMemory::NoteRefusal() {
  const MutexLock lock(mutex_);
  ++refused_;
}

void HostMemory::NoteWaiting(ClientId client, int64_t bytes) {
  const MutexLock lock(mutex_);
  Count(client, bytes, waiting_);
}

bool HostMemory::HasRoom(ClientId client) const {
  const MutexLock lock(mutex_);
  return bytes_.used() - waiting_.used() < bytes_.limit() &&
         bytes_.used_by(client) - waiting_.used_by(client) < bytes_.MostOf(client);
}

int64_t HostMemory::used_bytes() const { return stats().used_bytes; }

HostMemory::Stats HostMemory::stats() const {
  const MutexLock lock(mutex_);
  return {.limit_bytes = bytes_.limit(), .used_bytes = bytes_.used(), .refused = refused_};
}

absl::Status HostCharge::Add(ClientId client, int64_t bytes, std::string_view parameter) {
  OPSERVE_RETURN_IF_ERROR(memory_.Take(client, bytes, parameter));
  Took(client, bytes);
  return absl::OkStatus();
}

void HostCharge::Note(ClientId client, int64_t bytes) {
  memory_.Add(client, bytes);
  Took(client, bytes);
}

void HostCharge::Took(ClientId client, int64_t bytes) {
  if (of_ == Of::kWaiting) memory_.NoteWaiting(client, bytes);
  client_ = client;
  bytes_ += bytes;
}

void HostCharge::Clear() {
  const int64_t bytes = std::exchange(bytes_, 0);
  if (bytes == 0) return;
  if (of_ == Of::kWaiting) memory_.NoteWaiting(client_, -bytes);
  memory_.Return(client_, bytes);
}

SessionMemory::~SessionMemory() {
  const MutexLock lock(mutex_);
  all_->Return(client_, taken_ + told_);
}

absl::Status SessionMemory::Take(int64_t bytes, std::string_view parameter) {
  const MutexLock lock(mutex_);
  if (bytes > limit_bytes_ - taken_) {
    all_->NoteRefusal();
    return Refused(parameter, bytes, limit_bytes_ - taken_, " for this session");
  }
  OPSERVE_RETURN_IF_ERROR(all_->Take(client_, bytes, parameter));
  taken_ += bytes;
  return absl::OkStatus();
}

void SessionMemory::Return(int64_t bytes) {
  const MutexLock lock(mutex_);
  taken_ -= bytes;
  all_->Return(client_, bytes);
}

void SessionMemory::Note(int64_t bytes) {
  const MutexLock lock(mutex_);
  passing_ += bytes;
  if (std::abs(passing_ - told_) < kStepBytes) return;
  all_->Add(client_, passing_ - told_);
  told_ = passing_;
}

}  // namespace opserve::server
