#include "server/services/execute_batch_call.h"

#include <utility>

#include <grpcpp/server_context.h>

#include "server/connections/peer_address.h"
#include "server/services/batch_run.h"
#include "server/services/call_meter.h"
#include "server/services/call_sample.h"
#include "server/services/deadline.h"
#include "server/wire/batch_request.h"
#include "server/wire/inflate.h"
#include "server/wire/raw_message.h"

namespace opserve::server {
namespace {

// Batches that take less are not charged.
constexpr size_t kChargedBytes = size_t{256} << 10;

// Owned by gRPC: lives until OnDone, which follows Finish, which follows the end of every call.
class ExecuteBatchCall final : public grpc::ServerUnaryReactor {
 public:
  ExecuteBatchCall(const ExecuteContext& with, grpc::CallbackServerContext& context,
                   size_t request_bytes, grpc::ByteBuffer& response)
      : with_(with),
        context_(context),
        response_(response),
        meter_(with.counters, Method::kExecuteBatch, context, request_bytes),
        sample_(with.connections, context, request_bytes, with.answers.is_crowded()),
        charge_(with.host_memory),
        run_(with.engine, with.counters, with.regions, DeadlineOf(context, with.engine.clock()),
             PeerAddress::Parse(context.peer()).client()) {
    ++with_.executing;
  }
  ~ExecuteBatchCall() override { --with_.executing; }

  void Start(const grpc::ByteBuffer& request) {
    const bool is_long =
        TakesLongToRead(request, v1::ExecuteBatchRequest::kRawFieldNumber, kMaxBatchRawEntries);
    if (!is_long) return Begin(request);
    ReadOnWorker(with_, context_, request.Length(), charge_,
                 [this, &request](const absl::Status& status) {
                   if (!status.ok()) return Finish(meter_.End(status, 0));
                   Begin(request);
                 });
  }

 private:
  // The request stays until Finish.
  void Begin(const grpc::ByteBuffer& request) {
    const PlainRequest plain(request, with_.max_inflated_bytes);
    absl::Status status = plain.status();
    if (status.ok()) status = run_.Read(plain.bytes(), with_.max_message_bytes);
    if (status.ok()) status = Charge();
    if (!status.ok()) return Finish(meter_.End(status, 0));
    run_.Run([this](const absl::StatusOr<grpc::ByteBuffer>& answer) {
      charge_.Clear();
      if (!answer.ok()) return Finish(meter_.End(answer.status(), 0));
      response_ = *answer;
      const size_t bytes = response_.Length();
      const absl::Status taken = with_.answers.Begin(sample_, context_, bytes, bytes, leaving_);
      if (!taken.ok()) response_.Clear();
      Finish(meter_.End(taken, response_.Length()));
    });
  }

  // What the calls take until they are answered.
  absl::Status Charge() {
    const size_t bytes = run_.host_bytes();
    if (bytes < kChargedBytes) return absl::OkStatus();
    return charge_.Add(PeerAddress::Parse(context_.peer()).client(), static_cast<int64_t>(bytes),
                       "message");
  }

  void OnDone() override {
    sample_.End();
    delete this;
  }
  // What happens here is short: gRPC need not hand it to a thread, which costs an eighth of a small
  // call.
  bool InternalInlineable() override { return true; }
  void OnCancel() override { run_.Cancel(); }

  const ExecuteContext with_;
  grpc::CallbackServerContext& context_;
  grpc::ByteBuffer& response_;
  CallMeter meter_;
  const CallSample sample_;
  HostCharge charge_;
  AnswerWatch::Watched leaving_;
  BatchRun run_;
};

}  // namespace

grpc::ServerUnaryReactor* StartExecuteBatch(const ExecuteContext& with,
                                            grpc::CallbackServerContext& context,
                                            const grpc::ByteBuffer& request,
                                            grpc::ByteBuffer& response) {
  auto* call = new ExecuteBatchCall(with, context, request.Length(), response);
  call->Start(request);
  return call;
}

}  // namespace opserve::server
