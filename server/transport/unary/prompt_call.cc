#include "server/transport/unary/prompt_call.h"

#include <utility>

#include "server/transport/messages/inflate.h"
#include "server/transport/messages/raw_message.h"
#include "server/transport/unary/missing_message.h"

namespace opserve::server {
namespace {

// Owned by gRPC: lives until OnDone.
class PromptCall final : public grpc::ServerUnaryReactor {
 public:
  PromptCall(const ExecuteContext& with, Method method, grpc::CallbackServerContext& context,
             const grpc::ByteBuffer& request, grpc::ByteBuffer& response, PromptAnswer answer)
      : with_(with),
        method_(method),
        context_(context),
        request_(request),
        response_(response),
        answer_(std::move(answer)),
        sample_(with.connections, context, request.Length(), /*looks_at_all=*/true),
        caller_(context),
        charge_(with.host_memory) {}

  void Start(Role role) {
    const absl::StatusOr<Caller> admitted = with_.gate.Admit(role, context_);
    if (!admitted.ok()) return End(admitted.status());
    caller_ = *admitted;
    if (request_.Length() <= kReadHereHeaderBytes && !IsCompressed(request_))
      return End(absl::OkStatus());
    ReadOnWorker(with_, caller_.client(), context_, request_.Length(), charge_,
                 [this](const absl::Status& status) { End(status); });
  }

 private:
  void End(absl::Status status) {
    CallMeter meter(with_.sinks(), method_, context_, request_.Length());
    if (status.ok()) status = Answer();
    Finish(meter.End(status, response_.Length()));
  }

  absl::Status Answer() {
    const PlainRequest plain(request_, with_.max_inflated_bytes);
    absl::Status status = plain.status();
    if (plain.more_bytes() > 0)
      status = charge_.Add(caller_.client(), plain.more_bytes(), "message");
    if (status.ok()) status = answer_(caller_, plain.bytes(), response_);
    if (!status.ok()) return status;
    const size_t bytes = response_.Length();
    status = with_.answers.Begin(
        sample_, context_,
        {.caller = caller_, .bytes = bytes, .host_bytes = bytes, .is_computed = false}, leaving_);
    if (!status.ok()) response_.Clear();
    return status;
  }

  void OnDone() override {
    sample_.End();
    delete this;
  }
  bool InternalInlineable() override { return true; }

  const ExecuteContext& with_;
  const Method method_;
  // They stay until Finish.
  grpc::CallbackServerContext& context_;
  const grpc::ByteBuffer& request_;
  grpc::ByteBuffer& response_;
  PromptAnswer answer_;
  const CallSample sample_;
  Caller caller_;  // once let in
  HostCharge charge_;
  AnswerWatch::Watched leaving_;
};

}  // namespace

grpc::ServerUnaryReactor* StartPromptCall(const ExecuteContext& with, Method method, Role role,
                                          grpc::CallbackServerContext& context,
                                          const grpc::ByteBuffer& request,
                                          grpc::ByteBuffer& response, PromptAnswer answer) {
  if (!request.Valid()) return RefuseMissingMessage(with.sinks(), method, context);
  auto* call = new PromptCall(with, method, context, request, response, std::move(answer));
  call->Start(role);
  return call;
}

}  // namespace opserve::server
