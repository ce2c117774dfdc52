// Whom an RPC is cancelled through. Only for the sources that know gRPC.
#pragma once

#include <grpcpp/client_context.h>

#include <memory>

#include "absl/time/time.h"
#include "client/cpp/transport/credentials.h"
#include "client/cpp/transport/grpc_values.h"
#include "client/cpp/transport/message_stream.h"
#include "core/base/mutex.h"

namespace opserve::client {

// The context of one RPC. gRPC keeps a call, with what it did not send of its messages, until the
// context goes: Drop it when the RPC is over, where anything waits for that memory. Thread-safe.
class CallContext {
 public:
  static void Set(const RpcOptions& options, grpc::ClientContext& context) {
    if (options.timeout < absl::InfiniteDuration())
      context.set_deadline(TimeFromNow(options.timeout));
    if (!options.traceparent.empty()) context.AddMetadata("traceparent", options.traceparent);
    AddToken(options.token, context);
  }
  void Set(const RpcOptions& options) { Set(options, *Get()); }

  // Nothing once it is over.
  void Cancel() {
    const std::shared_ptr<grpc::ClientContext> context = Get();
    if (context != nullptr) context->TryCancel();
  }

  void Drop() {
    std::shared_ptr<grpc::ClientContext> last;  // goes after the lock
    const MutexLock lock(mutex_);
    last.swap(context_);
  }

  // For starting the call; nullptr after Drop.
  std::shared_ptr<grpc::ClientContext> Get() const {
    const MutexLock lock(mutex_);
    return context_;
  }

 private:
  mutable Mutex mutex_;
  std::shared_ptr<grpc::ClientContext> context_ ABSL_GUARDED_BY(mutex_) =
      std::make_shared<grpc::ClientContext>();
};

}  // namespace opserve::client
