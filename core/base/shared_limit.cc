#include "core/base/shared_limit.h"

#include <algorithm>

namespace opserve {

SharedLimit::Verdict SharedLimit::Check(ClientId client, int64_t amount) const {
  // An amount below nothing is a sum that went round: it must not give back what others hold.
  if (amount < 0 || amount > limit_ - used_) return Verdict::kFull;
  if (client == ClientId::kNone || share_ >= 1) return Verdict::kGranted;
  return amount <= MostOf(client) - used_by(client) ? Verdict::kGranted : Verdict::kShare;
}

SharedLimit::Verdict SharedLimit::Take(ClientId client, int64_t amount) {
  const Verdict verdict = Check(client, amount);
  if (verdict == Verdict::kGranted) Add(client, amount);
  return verdict;
}

void SharedLimit::Add(ClientId client, int64_t amount) {
  if (amount == 0) return;
  used_ += amount;
  if (client != ClientId::kNone) clients_[client] += amount;
}

void SharedLimit::Return(ClientId client, int64_t amount) {
  if (amount == 0) return;
  used_ -= amount;
  if (client == ClientId::kNone) return;
  const auto at = clients_.find(client);
  at->second -= amount;
  if (at->second == 0) clients_.erase(at);
}

int64_t SharedLimit::used_by(ClientId client) const {
  const auto at = clients_.find(client);
  return at == clients_.end() ? 0 : at->second;
}

int64_t SharedLimit::MostOf(ClientId client) const {
  const int64_t left_by_others = limit_ - (used_ - used_by(client));
  if (client == ClientId::kNone || share_ >= 1) return left_by_others;
  return std::max<int64_t>(
      static_cast<int64_t>(share_ * static_cast<double>(std::max<int64_t>(left_by_others, 0))), 1);
}

}  // namespace opserve
