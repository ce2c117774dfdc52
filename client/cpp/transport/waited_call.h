// A unary call that the thread which makes it waits for. Only for the sources that know gRPC.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "client/cpp/transport/answer_memory.h"
#include "client/cpp/transport/message_stream.h"
#include "client/cpp/values/request.h"

namespace opserve::client {

// The thread takes the events of its call itself, so that none has to wake another.
class WaitedCall : public std::enable_shared_from_this<WaitedCall> {
 public:
  // `room`: what the answer may take of the transport's memory.
  explicit WaitedCall(AnswerRoom room) : room_(std::move(room)) {}
  ~WaitedCall();
  WaitedCall(const WaitedCall&) = delete;
  WaitedCall& operator=(const WaitedCall&) = delete;

  // Makes the call; when this returns, it is over, and views without owners are no longer read.
  // Without such views it is also left a moment after the timeout, whatever the peer does: none
  // then, and gRPC still has it.
  std::optional<grpc::Status> Make(const std::shared_ptr<grpc::Channel>& channel,
                                   const std::string& method, const Request& request,
                                   const RpcOptions& options);
  // Keeps such a call until gRPC ends it. Needs the callback threads.
  void KeepUntilEnded();

  // Of a call that is OK.
  const grpc::ByteBuffer& answer() const { return answer_; }
  int64_t max_answer_bytes() const { return room_.bytes; }

 private:
  enum class Has : uint8_t { kEnded, kNotEnded };

  grpc::Slice MakeSlice(const Request::Piece& piece);
  // Until the call ends, or so long.
  Has Await(absl::Duration wait);
  void AwaitRelease();

  const AnswerRoom room_;
  std::atomic<int64_t> borrowed_{0};  // views without owners that may still be read
  grpc::CompletionQueue queue_;
  std::optional<grpc::ClientContext> context_{std::in_place};
  grpc::ByteBuffer answer_;
  grpc::Status status_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<grpc::ByteBuffer>> call_;
};

}  // namespace opserve::client
