#include "client/cpp/transport/channels.h"

#include <cstddef>
#include <utility>

#include "core/base/clock.h"

namespace opserve::client {
namespace {

// Calls under way on one connection, beyond which another one pays (docs/performance.md).
constexpr int kManyCalls = 4;
constexpr absl::Duration kRefusedFor = absl::Seconds(30);

}  // namespace

Channels::Channels(std::shared_ptr<grpc::Channel> first, int most, MakeChannel make)
    : first_{.grpc = std::move(first), .is_first = true},
      most_(static_cast<size_t>(most)),
      make_(std::move(make)) {}

Channel Channels::Pick() {
  if (most_ == 1 || first_.calls->load(std::memory_order_relaxed) < kManyCalls) return first_;
  return PickOther();
}

Channel Channels::PickOther() {
  std::vector<Channel> refused;  // go after the lock
  const MutexLock lock(mutex_);
  Channel best = first_;
  bool all_stand = true;
  for (size_t i = 0; i < others_.size();) {
    Channel& other = others_[i];
    const grpc_connectivity_state state = other.grpc->GetState(/*try_to_connect=*/true);
    if (state == GRPC_CHANNEL_TRANSIENT_FAILURE || state == GRPC_CHANNEL_SHUTDOWN) {
      none_until_ = Clock::Real().Now() + kRefusedFor;
      refused.push_back(std::move(other));
      others_.erase(others_.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    const bool stands = state == GRPC_CHANNEL_READY;
    all_stand = all_stand && stands;
    if (stands && other.calls->load() < best.calls->load()) best = other;
    ++i;
  }
  if (all_stand && best.calls->load() >= kManyCalls) OpenAnother();
  return best;
}

void Channels::OpenAnother() {
  if (1 + others_.size() >= most_ || Clock::Real().Now() < none_until_) return;
  // As long as the first does not stand, others would not either.
  if (first_.grpc->GetState(/*try_to_connect=*/false) != GRPC_CHANNEL_READY) return;
  others_.push_back({.grpc = make_()});
  others_.back().grpc->GetState(/*try_to_connect=*/true);
}

std::vector<std::shared_ptr<grpc::Channel>> Channels::TakeAll() {
  const MutexLock lock(mutex_);
  std::vector<std::shared_ptr<grpc::Channel>> all = {first_.grpc};
  for (Channel& other : others_) all.push_back(std::move(other.grpc));
  others_.clear();
  return all;
}

}  // namespace opserve::client
