#include "client/cpp/transport/message_stream.h"

#include <grpcpp/alarm.h>
#include <grpcpp/channel.h>
#include <grpcpp/generic/generic_stub.h>

#include <atomic>
#include <utility>
#include <vector>

#include "client/cpp/transport/answer_memory.h"
#include "client/cpp/transport/call_context.h"
#include "client/cpp/transport/grpc_values.h"
#include "core/base/mutex.h"
#include "core/base/op_error.h"
#include "core/base/strings.h"
#include "core/base/trace_context.h"

namespace opserve::client {
namespace {

// Keeps itself from Start to OnDone. A hold lets writes start outside of reactions; it is given up
// once nothing more will be written.
class GrpcStream final : public MessageStream,
                         public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                         public std::enable_shared_from_this<GrpcStream> {
 public:
  GrpcStream(std::shared_ptr<grpc::Channel> channel, AnswerRoom room, std::string target,
             std::string method, RpcOptions options, std::shared_ptr<Listener> listener)
      : channel_(std::move(channel)),
        room_(std::move(room)),
        target_(std::move(target)),
        method_(std::move(method)),
        options_(std::move(options)),
        listener_(std::move(listener)) {}

  void Start() override {
    self_ = shared_from_this();
    context_.Set(options_);
    const std::shared_ptr<grpc::ClientContext> context = context_.Get();
    grpc::GenericStub(channel_).PrepareBidiStreamingCall(context.get(), method_, {}, this);
    AddHold();
    StartRead(&incoming_);
    StartCall();
  }

  void Write(const Request& message) override {
    std::vector<grpc::Slice> slices;
    for (const Request::Piece& piece : message.pieces()) slices.push_back(OwnedSlice(piece));
    if (!BeginWrite()) return;
    outgoing_ = grpc::ByteBuffer(slices.data(), slices.size());
    slices.clear();
    StartWrite(&outgoing_);
  }

  void HalfClose() override {
    if (BeginWrite()) StartWritesDone();
  }

  void Cancel() override { context_.Cancel(); }

 private:
  void OnReadDone(bool ok) override {
    if (!ok) return Break();
    if (static_cast<int64_t>(incoming_.Length()) > room_.bytes) return Refuse();
    std::vector<grpc::Slice> slices;
    if (!incoming_.Dump(&slices).ok()) return Break();
    listener_->OnMessage(FragmentsOf(slices));
    slices.clear();
    incoming_.Clear();
    StartRead(&incoming_);
  }

  void OnWriteDone(bool ok) override {
    outgoing_.Clear();
    if (EndWrite()) {
      if (ok) return listener_->OnWritten();
      Break();
    }
  }

  void OnWritesDoneDone(bool /*ok*/) override {
    if (EndWrite()) Break();
  }

  void OnDone(const grpc::Status& status) override {
    listener_->OnEnded(
        refused_ ? TooLargeAnswer(target_, room_.bytes)
                 : Explained(StatusOf(status, target_, room_.bytes, options_.encryption)));
    listener_.reset();
    context_.Drop();
    const std::shared_ptr<GrpcStream> last = std::move(self_);
  }

  // Takes no more of a server whose message is too large.
  void Refuse() {
    refused_ = true;
    incoming_.Clear();
    Cancel();
    Break();
  }

  // False when nothing can be written any more.
  bool BeginWrite() {
    const MutexLock lock(mutex_);
    if (broken_) return false;
    writing_ = true;
    return true;
  }

  // Whether more can be written.
  bool EndWrite() {
    {
      const MutexLock lock(mutex_);
      writing_ = false;
      if (!broken_) return true;
    }
    RemoveHold();
    return false;
  }

  // Nothing will be written any more: gives up the hold, or leaves that to the write that runs.
  void Break() {
    {
      const MutexLock lock(mutex_);
      if (std::exchange(broken_, true) || writing_) return;
    }
    RemoveHold();
  }

  absl::Status Explained(absl::Status status) const {
    if (!absl::IsDeadlineExceeded(status) || GetErrorDetail(status).has_value() ||
        options_.timeout == absl::InfiniteDuration())
      return status;
    return absl::DeadlineExceededError(
        absl::StrCat(target_, ": the session did not end within ", TimeText(options_.timeout)));
  }

  const std::shared_ptr<grpc::Channel> channel_;
  const AnswerRoom room_;  // goes behind what came
  const std::string target_;
  const std::string method_;
  const RpcOptions options_;
  std::shared_ptr<Listener> listener_;
  std::shared_ptr<GrpcStream> self_;
  CallContext context_;
  grpc::ByteBuffer outgoing_;
  grpc::ByteBuffer incoming_;
  bool refused_ = false;  // of the reactions, which come one at a time
  Mutex mutex_;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool broken_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

std::shared_ptr<MessageStream> NewMessageStream(std::shared_ptr<grpc::Channel> channel,
                                                AnswerRoom room, std::string target,
                                                std::string method, RpcOptions options,
                                                std::shared_ptr<MessageStream::Listener> listener) {
  return std::make_shared<GrpcStream>(std::move(channel), std::move(room), std::move(target),
                                      std::move(method), std::move(options), std::move(listener));
}

absl::Status CheckTraceParent(const std::string& traceparent) {
  if (traceparent.empty() || ParseTraceParent(traceparent).has_value()) return absl::OkStatus();
  return InvalidParameter("traceparent",
                          "one of W3C Trace Context, 00-<32 digits>-<16 digits>-<2 digits>, in "
                          "lower-case hexadecimal digits and with ids that are not zero",
                          Quoted(traceparent.substr(0, kMaxTraceParentBytes)));
}

void RunSoon(absl::AnyInvocable<void()> task, absl::Duration delay) {
  struct Soon {
    grpc::Alarm alarm;
    absl::AnyInvocable<void()> task;
  };
  auto* soon = new Soon{.task = std::move(task)};
  soon->alarm.Set(TimeFromNow(delay), [soon](bool /*rang*/) {
    soon->task();
    delete soon;
  });
}

}  // namespace opserve::client
