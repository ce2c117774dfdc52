#include "client/cpp/transport/waited_call.h"

#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "client/cpp/transport/call_context.h"
#include "client/cpp/transport/connection.h"
#include "client/cpp/transport/grpc_values.h"

namespace opserve::client {

WaitedCall::~WaitedCall() {
  queue_.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
  }
}

std::optional<grpc::Status> WaitedCall::Make(const std::shared_ptr<grpc::Channel>& channel,
                                             const std::string& method, const Request& request,
                                             const RpcOptions& options) {
  CallContext::Set(options, *context_);
  {
    std::vector<grpc::Slice> slices;
    for (const Request::Piece& piece : request.pieces()) slices.push_back(MakeSlice(piece));
    const grpc::ByteBuffer message(slices.data(), slices.size());
    call_ = grpc::GenericStub(channel).PrepareUnaryCall(&*context_, method, message, &queue_);
  }
  call_->StartCall();
  call_->Finish(&answer_, &status_, nullptr);
  if (Await(options.timeout + kGrace) == Has::kNotEnded) {
    if (borrowed_.load() == 0) return std::nullopt;
    Await(absl::InfiniteDuration());
  }
  AwaitRelease();
  return status_;
}

grpc::Slice WaitedCall::MakeSlice(const Request::Piece& piece) {
  if (piece.view.empty() || piece.owner != nullptr) return OwnedSlice(piece);
  borrowed_.fetch_add(1);
  // gRPC never writes to a slice it sends.
  return {const_cast<std::byte*>(piece.view.data()), piece.view.size(),
          [](void* borrowed) { static_cast<std::atomic<int64_t>*>(borrowed)->fetch_sub(1); },
          &borrowed_};
}

WaitedCall::Has WaitedCall::Await(absl::Duration wait) {
  void* tag = nullptr;
  bool ok = false;
  const auto next = queue_.AsyncNext(&tag, &ok, TimeFromNow(wait));
  return next == grpc::CompletionQueue::GOT_EVENT ? Has::kEnded : Has::kNotEnded;
}

void WaitedCall::AwaitRelease() {
  // gRPC keeps a call, with what it did not send of its messages, until the context goes.
  context_.reset();
  // The transport may go on writing what it had begun to write: its events are taken here, too.
  constexpr absl::Duration kLookAgain = absl::Milliseconds(1);
  while (borrowed_.load() > 0) Await(kLookAgain);
}

void WaitedCall::KeepUntilEnded() {
  constexpr absl::Duration kLookAgain = absl::Milliseconds(100);
  RunSoon(
      [self = shared_from_this()] {
        if (self->Await(absl::ZeroDuration()) == Has::kNotEnded) self->KeepUntilEnded();
      },
      kLookAgain);
}

}  // namespace opserve::client
