#include "client/cpp/session/sent_commands.h"

#include <algorithm>
#include <utility>

namespace opserve::client {
namespace {

// What the server lets wait, within these.
constexpr int64_t kMinRemembered = 1024;
constexpr int64_t kMaxRemembered = 65536;

}  // namespace

uint64_t SentCommands::Add(SentCommand command, int64_t most) {
  latest_.push_back(std::move(command));
  const auto kept = static_cast<size_t>(std::clamp(most, kMinRemembered, kMaxRemembered));
  while (latest_.size() > kept) latest_.pop_front();
  return ++last_;
}

std::optional<size_t> SentCommands::PlaceOf(uint64_t id) const {
  const uint64_t age = last_ - id;
  if (id == 0 || age >= latest_.size()) return std::nullopt;
  return latest_.size() - 1 - static_cast<size_t>(age);
}

const SentCommand* SentCommands::Find(uint64_t id) const {
  const std::optional<size_t> place = PlaceOf(id);
  return place.has_value() ? &latest_[*place] : nullptr;
}

bool SentCommands::EndsNow(uint64_t id) {
  const std::optional<size_t> place = PlaceOf(id);
  return !place.has_value() || !std::exchange(latest_[*place].is_over, true);
}

void KeptFailures::Gone(uint64_t object) {
  objects_.erase(object);
  std::vector<Failure> failures;
  failures.swap(failures_);
  for (const Failure& failure : failures) Keep(failure.status, failure.stream, failure.context);
}

void KeptFailures::Keep(const absl::Status& status, uint64_t stream, uint64_t context) {
  if (!objects_.contains(context)) return;
  if (!objects_.contains(stream)) stream = 0;
  const auto same = [&](const Failure& failure) {
    return failure.stream == stream && failure.context == context;
  };
  if (std::none_of(failures_.begin(), failures_.end(), same))
    failures_.push_back({status, stream, context});
}

absl::Status KeptFailures::Take(uint64_t stream, uint64_t context) {
  absl::Status first;
  const auto taken = [&](const Failure& failure) {
    const bool mine = failure.context == context &&
                      (stream == 0 || failure.stream == 0 || failure.stream == stream);
    if (mine && first.ok()) first = failure.status;
    return mine;
  };
  failures_.erase(std::remove_if(failures_.begin(), failures_.end(), taken), failures_.end());
  return first;
}

}  // namespace opserve::client
