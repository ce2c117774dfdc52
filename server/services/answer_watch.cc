#include "server/services/answer_watch.h"

#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include <grpc/grpc.h>

#include "core/base/status_macros.h"

namespace opserve::server {
namespace {

constexpr int64_t kBytesPerSecond = int64_t{1} << 20;
// How long gRPC may take to let go of a cancelled call. It takes longer where the answer waits for
// the socket.
constexpr absl::Duration kCancelTime = absl::Seconds(2);

}  // namespace

void AnswerWatch::Watched::End() {
  if (watch_ == nullptr) return;
  AnswerWatch& watch = *std::exchange(watch_, nullptr);
  const MutexLock lock(watch.mutex_);
  if (answer_->host_bytes > 0) watch.memory_.Return(answer_->client, answer_->host_bytes);
  watch.answers_.erase(answer_);
}

absl::Status AnswerWatch::Begin(grpc::CallbackServerContext& context, size_t bytes,
                                size_t host_bytes, Watched& watched) {
  if (bytes < kWatchedBytes) return absl::OkStatus();
  Answer answer{.context = &context, .deadline = absl::InfiniteFuture()};
  if (host_bytes > 0) {
    answer.client = PeerAddress::Parse(context.peer()).client();
    answer.host_bytes = static_cast<int64_t>(host_bytes);
    OPSERVE_RETURN_IF_ERROR(memory_.Take(answer.client, answer.host_bytes, "answer"));
  }
  if (timeout_ > absl::ZeroDuration()) {
    answer.deadline =
        clock_.Now() + timeout_ +
        absl::Seconds(1) * (static_cast<double>(bytes) / static_cast<double>(kBytesPerSecond));
  }
  const MutexLock lock(mutex_);
  answers_.push_back(answer);
  watched.watch_ = this;
  watched.answer_ = std::prev(answers_.end());
  return absl::OkStatus();
}

void AnswerWatch::Tick() {
  const absl::Time now = clock_.Now();
  std::vector<grpc_call*> late;
  std::vector<std::string> stuck;
  {
    const MutexLock lock(mutex_);
    for (Answer& answer : answers_) {
      if (now < answer.deadline) continue;
      if (answer.is_cancelled) stuck.push_back(answer.context->peer());
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
                                 "the client did not take its answer", nullptr);
    grpc_call_unref(call);
  }
  for (const std::string& peer : stuck) {
    if (const std::shared_ptr<Connection> connection = connections_.Find(peer))
      connections_.Cut(*connection, "its client does not take answers");
  }
}

}  // namespace opserve::server
