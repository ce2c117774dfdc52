// One message of a ModelStreamInfer: read, planned, run, its answer written.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <grpcpp/support/byte_buffer.h>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/base/trace_context.h"
#include "server/calls/infer_regions.h"
#include "server/calls/planned_call.h"
#include "server/open_inference/infer_request.h"
#include "server/tracing/call_tally.h"
#include "server/transport/messages/raw_message.h"
#include "server/transport/unary/engine_call.h"

namespace opserve::server {

// Who sends the messages of a stream, noted while gRPC knows it.
struct StreamOrigin final : CallOrigin {
  std::string peer_text;
  ClientId client = ClientId::kNone;
  ClientId of_token = ClientId::kNone;
  std::optional<TraceContext> trace_context;
  absl::Time deadline = absl::InfiniteFuture();
  // Nobody waits for answers any more.
  std::atomic<bool> is_over = false;

  std::string peer() const override { return peer_text; }
  std::optional<TraceContext> trace() const override { return trace_context; }
};

// Lives until its answer was taken, and as long as it runs.
class StreamMessage final : public std::enable_shared_from_this<StreamMessage> {
 public:
  using Answered = absl::AnyInvocable<void()>;

  // `answered` is called once, on any thread.
  StreamMessage(const ExecuteContext& with, std::shared_ptr<const StreamOrigin> origin,
                const grpc::ByteBuffer& request, Answered answered);
  ~StreamMessage() { --with_.executing; }

  // Reads it, here or where that takes long on a worker, and runs it.
  void Start();

  // ---- once it was answered ----

  // Why it failed, if it did.
  const absl::Status& status() const { return status_; }
  size_t answer_bytes() const { return answer_bytes_; }
  // What of the answer is no memory of a device's.
  size_t host_bytes() const { return host_bytes_; }
  grpc::ByteBuffer TakeAnswer() { return std::exchange(answer_, grpc::ByteBuffer()); }

 private:
  using Step = absl::Status (StreamMessage::*)();
  // Answers with its error, if it has one.
  void Take(Step step);
  // Likewise on a worker, in the client's turn, with so many bytes charged.
  void TakeOnWorker(size_t bytes, Step step);
  // Reads the request and submits it, on a worker where its regions are large.
  absl::Status Parse();
  absl::Status Submit();
  void Ended(absl::StatusOr<Outputs> outputs);
  void Answer(absl::Status status, WrittenMessage answer, bool is_host);

  const ExecuteContext& with_;
  const std::shared_ptr<const StreamOrigin> origin_;
  const absl::Time came_;
  grpc::ByteBuffer request_;
  Answered answered_;
  CallTally tally_;
  HostCharge charge_;
  InferHeader header_;
  SplitMessage message_;
  std::shared_ptr<const PlannedCall> planned_;
  HeldRegions regions_;
  InferRegions shared_;
  CallTimes times_;
  absl::Status status_;
  grpc::ByteBuffer answer_;
  size_t answer_bytes_ = 0;
  size_t host_bytes_ = 0;
};

}  // namespace opserve::server
