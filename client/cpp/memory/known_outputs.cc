#include "client/cpp/memory/known_outputs.h"

#include <cstddef>
#include <utility>

namespace opserve::client {
namespace {

constexpr size_t kMostDescriptions = 256;
constexpr size_t kMostDescriptionBytes = 16 << 10;
constexpr size_t kMostOutputs = 64;

}  // namespace

std::shared_ptr<const KnownOutputs::Outputs> KnownOutputs::Find(
    const std::string& description) const {
  const MutexLock lock(mutex_);
  const auto found = known_.find(description);
  return found == known_.end() ? nullptr : found->second;
}

void KnownOutputs::Learn(const std::string& description, const ExecuteResult& result) {
  if (description.size() > kMostDescriptionBytes || result.outputs.size() > kMostOutputs) return;
  auto outputs = std::make_shared<Outputs>();
  for (const NamedTensor& output : result.outputs)
    outputs->push_back({output.name, output.tensor.desc()});
  const MutexLock lock(mutex_);
  if (known_.size() >= kMostDescriptions) known_.clear();
  known_[description] = std::move(outputs);
}

void KnownOutputs::Forget(const std::string& description) {
  const MutexLock lock(mutex_);
  known_.erase(description);
}

}  // namespace opserve::client
