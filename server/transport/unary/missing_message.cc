#include "server/transport/unary/missing_message.h"

#include <grpcpp/server_context.h>

#include "server/transport/messages/status.h"
#include "server/transport/unary/deadline.h"

namespace opserve::server {
namespace {

absl::Status NoMessage() {
  return MissingParameter("message", "one complete message before the end of the request");
}

// Owned by gRPC: lives until OnDone.
class CallWithoutMessage final : public grpc::ServerUnaryReactor {
 public:
  CallWithoutMessage(const CallSinks& sinks, Method method, grpc::CallbackServerContext& context)
      : context_(context), meter_(sinks, method, context, 0) {
    Finish(ToGrpcStatus(NoMessage()));
  }

 private:
  // Only now gRPC says for sure whether the call was cancelled.
  void OnDone() override {
    meter_.Count(Reason(), 0);
    delete this;
  }
  bool InternalInlineable() override { return true; }

  absl::Status Reason() const {
    return context_.IsCancelled() ? WhyCancelled(context_) : NoMessage();
  }

  const grpc::CallbackServerContext& context_;
  CallMeter meter_;
};

}  // namespace

grpc::ServerUnaryReactor* RefuseMissingMessage(const CallSinks& sinks, Method method,
                                               grpc::CallbackServerContext& context) {
  return new CallWithoutMessage(sinks, method, context);
}

}  // namespace opserve::server
