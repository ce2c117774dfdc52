#include "server/transport/unary/answer_watch.h"

#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <grpc/grpc.h>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve::server {
namespace {

constexpr int64_t kBytesPerSecond = int64_t{1} << 20;
// How long gRPC may take to let go of a cancelled call. It takes longer where the answer waits for
// the socket.
constexpr absl::Duration kCancelTime = absl::Seconds(2);
// Once a client leaves more small answers than this, every call is looked at.
constexpr int64_t kCrowd = AnswerWatch::kMostSmallOfStalled / 2;

absl::Status TooMany(std::string want) {
  return MakeError({.reason = ErrorReason::kResourceLimit,
                    .op = {},
                    .parameter = "answer",
                    .want = std::move(want),
                    .got = "one more"});
}

}  // namespace

void AnswerWatch::Watched::End() {
  if (watch_ == nullptr) return;
  AnswerWatch& watch = *std::exchange(watch_, nullptr);
  if (small_ > 0) watch.EndSmall(*this);
  if (large_.has_value()) watch.EndLarge(*large_);
}

absl::Status AnswerWatch::BeginSmall(const CallSample& sample, Watched& watched) {
  if (sample.connection() == nullptr) return absl::OkStatus();
  const ClientId client = sample.connection()->client();
  const int64_t answers = sample.stands_for();
  bool is_flood = false;
  {
    const MutexLock lock(mutex_);
    SmallOfClient& small = small_[client];
    if (small.left == 0) small.taken = clock_.Now();
    if (MayLeave(small, sample.connection(), answers)) {
      if (small.left <= kCrowd && small.left + answers > kCrowd) ++crowds_;
      small.left += answers;
      small.of_connections[sample.connection()] += answers;
      watched.watch_ = this;
      watched.client_ = client;
      watched.connection_ = sample.connection();
      watched.small_ = answers;
      return absl::OkStatus();
    }
    small.refused += answers;
    is_flood = small.refused > kMostRefusedOfClient;
  }
  if (is_flood) {
    connections_.Expel(*sample.connection(), "endless calls whose answers the client does not read",
                       ConnectionTable::kFloodBar);
  }
  return TooMany(absl::StrCat(
      "at most ", kMostSmallOfClient, " answers that the client has not read yet, and of ",
      kMostSmallOfStalled, " one read within ", absl::FormatDuration(kStallTime)));
}

bool AnswerWatch::MayLeave(const SmallOfClient& small, const Connection* connection,
                           int64_t more) const {
  if (small.left + more > kMostSmallOfClient) return false;
  if (small.left < kMostSmallOfStalled || clock_.Now() - small.taken < kStallTime) return true;
  const auto there = small.of_connections.find(connection);
  const int64_t left = there == small.of_connections.end() ? 0 : there->second;
  return left + more <= kMostSmallOfStalledConnection;
}

bool AnswerWatch::IsCrowd(ClientId client) {
  const MutexLock lock(mutex_);
  const auto small = small_.find(client);
  const auto large = large_.find(client);
  return (small != small_.end() && small->second.left > kMostSmallOfStalled) ||
         (large != large_.end() && large->second > kMostSmallOfStalled);
}

void AnswerWatch::EndSmall(const Watched& watched) {
  const MutexLock lock(mutex_);
  const auto at = small_.find(watched.client_);
  if (at == small_.end()) return;
  SmallOfClient& small = at->second;
  const int64_t answers = watched.small_;
  if (small.left > kCrowd && small.left - answers <= kCrowd) --crowds_;
  small.left -= answers;
  small.refused = 0;
  small.taken = clock_.Now();
  const auto of_connection = small.of_connections.find(watched.connection_);
  of_connection->second -= answers;
  if (of_connection->second <= 0) small.of_connections.erase(of_connection);
  if (small.left <= 0) small_.erase(at);
}

absl::Status AnswerWatch::Begin(const CallSample& sample, grpc::CallbackServerContext& context,
                                const Size& size, Watched& watched) {
  if (size.bytes < kWatchedBytes || !size.is_computed)
    OPSERVE_RETURN_IF_ERROR(BeginSmall(sample, watched));
  return size.bytes < kWatchedBytes ? absl::OkStatus() : BeginLarge(context, size, watched);
}

absl::Status AnswerWatch::BeginLarge(grpc::CallbackServerContext& context, const Size& size,
                                     Watched& watched) {
  Answer answer{.context = &context,
                .connection = connections_.Find(context.peer()),
                .deadline = absl::InfiniteFuture()};
  if (size.host_bytes > 0) {
    answer.client = size.caller.client();
    answer.host_bytes = static_cast<int64_t>(size.host_bytes);
  }
  if (timeout_ > absl::ZeroDuration()) {
    answer.deadline =
        clock_.Now() + timeout_ +
        absl::Seconds(1) * (static_cast<double>(size.bytes) / static_cast<double>(kBytesPerSecond));
  }
  const MutexLock lock(mutex_);
  OPSERVE_RETURN_IF_ERROR(Take(answer));
  answers_.push_back(answer);
  watched.watch_ = this;
  watched.large_ = std::prev(answers_.end());
  return absl::OkStatus();
}

absl::Status AnswerWatch::Take(const Answer& answer) {
  const Connection* connection = answer.connection.get();
  const auto large = connection == nullptr ? large_.end() : large_.find(connection->client());
  if (large != large_.end() && large->second >= kMostLargeOfClient) {
    return TooMany(absl::StrCat("at most ", kMostLargeOfClient, " of ", kWatchedBytes >> 10,
                                " KiB or more that the client has not read yet"));
  }
  if (answer.host_bytes > 0)
    OPSERVE_RETURN_IF_ERROR(memory_.Take(answer.client, answer.host_bytes, "answer"));
  if (connection != nullptr) ++large_[connection->client()];
  return absl::OkStatus();
}

void AnswerWatch::EndLarge(std::list<Answer>::iterator answer) {
  const MutexLock lock(mutex_);
  if (answer->host_bytes > 0) memory_.Return(answer->client, answer->host_bytes);
  if (answer->connection != nullptr) {
    const auto large = large_.find(answer->connection->client());
    if (--large->second == 0) large_.erase(large);
  }
  answers_.erase(answer);
}

void AnswerWatch::Tick() {
  const absl::Time now = clock_.Now();
  std::vector<grpc_call*> late;
  std::vector<std::shared_ptr<Connection>> stuck;
  {
    const MutexLock lock(mutex_);
    for (Answer& answer : answers_) {
      if (now < answer.deadline) continue;
      if (answer.is_cancelled && answer.connection != nullptr) stuck.push_back(answer.connection);
      // The context may go once the lock is free, its call may not.
      grpc_call_ref(answer.context->c_call());
      late.push_back(answer.context->c_call());
      answer.is_cancelled = true;
      answer.deadline = now + kCancelTime;
    }
  }
  // It may end here and now, and with it the answer.
  for (grpc_call* call : late) {
    grpc_call_cancel_with_status(call, GRPC_STATUS_DEADLINE_EXCEEDED,
                                 "the client did not read its answer", nullptr);
    grpc_call_unref(call);
  }
  for (const std::shared_ptr<Connection>& connection : stuck)
    connections_.Cut(*connection, "the client does not read answers");
}

}  // namespace opserve::server
