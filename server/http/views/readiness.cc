#include "server/http/views/readiness.h"

#include <utility>

namespace opserve::server {

void Readiness::SetReady() {
  const MutexLock lock(mutex_);
  is_starting_ = false;
}

void Readiness::AddReason(std::string why) {
  const MutexLock lock(mutex_);
  reasons_.push_back(std::move(why));
}

std::vector<std::string> Readiness::reasons() const {
  const MutexLock lock(mutex_);
  std::vector<std::string> reasons = reasons_;
  if (is_starting_) reasons.emplace_back("the server is starting");
  return reasons;
}

}  // namespace opserve::server
