#include "server/transport/services/infer_stream.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <grpc/grpc.h>

#include "absl/base/thread_annotations.h"
#include "core/base/mutex.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "server/transport/messages/status.h"
#include "server/transport/unary/call_metadata.h"
#include "server/transport/unary/deadline.h"
#include "server/transport/unary/stream_message.h"

namespace opserve::server {
namespace {

using grpc::ByteBuffer;
using Reactor = grpc::ServerBidiReactor<ByteBuffer, ByteBuffer>;

// What gRPC and we keep of a stream, about.
constexpr int64_t kStreamBytes = int64_t{32} << 10;
constexpr char kEndsWithStatus[] = "triton_grpc_error";

bool EndsWithStatus(const grpc::CallbackServerContext& context) {
  const auto found = context.client_metadata().find(kEndsWithStatus);
  return found != context.client_metadata().end() && found->second == "true";
}

// A stream that is refused.
class RefusedStream final : public Reactor {
 public:
  explicit RefusedStream(const absl::Status& status) { Finish(ToGrpcStatus(status)); }

 private:
  void OnDone() override { delete this; }
};

// Kept by itself until OnDone, and by the messages that run.
class InferStream final : public Reactor, public std::enable_shared_from_this<InferStream> {
 public:
  InferStream(const ExecuteContext& with, const Caller& caller,
              grpc::CallbackServerContext& context)
      : with_(with),
        caller_(caller),
        context_(context),
        origin_(std::make_shared<StreamOrigin>()),
        ends_with_status_(EndsWithStatus(context)),
        sample_(with.connections, context, 0, /*looks_at_all=*/true),
        charge_(with.host_memory) {
    origin_->peer_text = context.peer();
    connection_ = with.connections.Find(origin_->peer_text);
    origin_->client = caller_.client();
    origin_->of_token = caller_.of_token();
    origin_->trace_context = TraceOf(context);
    origin_->deadline = DeadlineOf(context, with.engine.clock());
  }

  absl::Status Begin() {
    OPSERVE_RETURN_IF_ERROR(charge_.Add(origin_->client, kStreamBytes, "stream"));
    self_ = shared_from_this();
    Advance();
    return absl::OkStatus();
  }

 private:
  void OnReadDone(bool ok) override {
    std::shared_ptr<StreamMessage> message;
    {
      const MutexLock lock(mutex_);
      is_reading_ = false;
      is_half_closed_ = !ok;
      if (ok) message = AddMessage();
    }
    // It may be answered here and now.
    if (message != nullptr) message->Start();
    Advance();
  }

  std::shared_ptr<StreamMessage> AddMessage() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (connection_ != nullptr) connection_->NoteMessages(static_cast<int64_t>(in_.Length()));
    has_read_ = true;
    auto& place = places_.emplace_back(std::make_shared<Place>());
    place->message = std::make_shared<StreamMessage>(
        with_, origin_, std::exchange(in_, ByteBuffer()),
        [self = shared_from_this(), place = std::weak_ptr<Place>(place)] {
          self->OnAnswered(place.lock());
        });
    return place->message;
  }

  // A message that came, until its answer was taken.
  struct Place {
    std::shared_ptr<StreamMessage> message;
    bool is_answered = false;
  };

  void OnAnswered(const std::shared_ptr<Place>& place) {
    {
      const MutexLock lock(mutex_);
      if (place == nullptr) return;  // the stream is over
      place->is_answered = true;
      waiting_bytes_ += place->message->answer_bytes();
    }
    Advance();
  }

  // Starts whatever may be started.
  void Advance() {
    const MutexLock lock(mutex_);
    if (is_finished_) return;
    AdvanceWrite();
    if (is_finished_) return;
    if (!is_reading_ && !is_half_closed_ && places_.size() < kMaxStreamMessages &&
        waiting_bytes_ < kMaxStreamAnswerBytes) {
      is_reading_ = true;
      StartRead(&in_);
    }
    if (is_half_closed_ && places_.empty()) FinishWith(absl::OkStatus());
  }

  void AdvanceWrite() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (is_writing_ || places_.empty() || !places_.front()->is_answered) return;
    StreamMessage& message = *places_.front()->message;
    if (ends_with_status_ && !message.status().ok()) return FinishWith(message.status());
    // Small answers, too, have their time: the stream would be held by them for ever.
    const absl::Status watched =
        with_.answers.Begin(sample_, context_,
                            {caller_, std::max(message.answer_bytes(), AnswerWatch::kWatchedBytes),
                             message.host_bytes()},
                            leaving_.emplace());
    if (!watched.ok()) return FinishWith(watched);
    is_writing_ = true;
    out_ = message.TakeAnswer();
    grpc::WriteOptions options;
    if (places_.size() > 1 && places_[1]->is_answered) options.set_buffer_hint();
    StartWrite(&out_, options);
  }

  void OnWriteDone(bool ok) override {
    leaving_.reset();
    {
      const MutexLock lock(mutex_);
      is_writing_ = false;
      out_.Clear();
      waiting_bytes_ -= places_.front()->message->answer_bytes();
      places_.pop_front();
      if (!ok) FinishWith(MakeError({.reason = ErrorReason::kCancelled}));
    }
    Advance();
  }

  void OnCancel() override {
    const MutexLock lock(mutex_);
    FinishWith(MakeError({.reason = ErrorReason::kCancelled}));
  }

  void FinishWith(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    origin_->is_over = true;
    if (std::exchange(is_finished_, true)) return;
    Finish(ToGrpcStatus(status));
  }

  void OnDone() override {
    leaving_.reset();
    std::deque<std::shared_ptr<Place>> places;
    bool has_read = false;
    {
      const MutexLock lock(mutex_);
      is_finished_ = true;
      places.swap(places_);
      has_read = has_read_;
    }
    if (!has_read) sample_.End();
    const std::shared_ptr<InferStream> self = std::move(self_);
  }

  const ExecuteContext& with_;
  const Caller caller_;
  grpc::CallbackServerContext& context_;
  const std::shared_ptr<StreamOrigin> origin_;
  const bool ends_with_status_;
  const CallSample sample_;
  std::shared_ptr<Connection> connection_;  // nullptr where there is no telling
  HostCharge charge_;
  std::optional<AnswerWatch::Watched> leaving_;  // of the answer that is being written
  std::shared_ptr<InferStream> self_;
  ByteBuffer in_;  // of the read
  Mutex mutex_;
  std::deque<std::shared_ptr<Place>> places_ ABSL_GUARDED_BY(mutex_);
  size_t waiting_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of answers that were not taken
  ByteBuffer out_ ABSL_GUARDED_BY(mutex_);
  bool is_reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_half_closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_finished_ ABSL_GUARDED_BY(mutex_) = false;
  bool has_read_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

Reactor* StartInferStream(const ExecuteContext& with, grpc::CallbackServerContext& context) {
  const absl::StatusOr<Caller> caller = with.gate.Admit(Role::kExecute, context);
  if (!caller.ok()) return new RefusedStream(caller.status());
  const auto stream = std::make_shared<InferStream>(with, *caller, context);
  const absl::Status begun = stream->Begin();
  if (!begun.ok()) return new RefusedStream(begun);
  return stream.get();
}

}  // namespace opserve::server
