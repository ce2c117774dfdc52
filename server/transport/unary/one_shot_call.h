// A unary message that is one call: Execute's, ModelInfer's.
#pragma once

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/calls/planned_call.h"
#include "server/codec/message_scanner.h"
#include "server/transport/messages/raw_message.h"
#include "server/transport/unary/engine_call.h"

namespace opserve::server {

class OneShotCall : public EngineCall {
 public:
  OneShotCall(const ExecuteContext& with, Method method, uint32_t raw_field,
              grpc::CallbackServerContext& context, size_t request_bytes,
              grpc::ByteBuffer& response)
      : EngineCall(with, method, context, request_bytes, response), raw_field_(raw_field) {}

  void StartReading(const grpc::ByteBuffer& request) { Start(request, raw_field_, kMaxRawEntries); }

 protected:
  // Reads what says how many bytes of the call lie in neither the message nor the answer, and are
  // to be read before it is planned.
  virtual absl::StatusOr<size_t> BytesElsewhere(SplitMessage& /*message*/) { return size_t{0}; }
  // The plan of what `message` says.
  virtual absl::StatusOr<std::shared_ptr<const PlannedCall>> FindPlan(SplitMessage& message) = 0;

  // Of a call that was planned.

  virtual size_t MaxResponseBytes(const PlannedCall& planned) const = 0;
  // Whether what it does beside the answer can be done; about how long that takes.
  virtual absl::StatusOr<absl::Duration> CheckElsewhere(const PlannedCall& /*planned*/) const {
    return absl::ZeroDuration();
  }
  // Does it.
  virtual absl::Status WriteElsewhere(const PlannedCall& /*planned*/, Outputs& /*outputs*/) {
    return absl::OkStatus();
  }
  // The engine needs what was read elsewhere no more.
  virtual void ClearElsewhere() {}
  // Besides the call's own deadline.
  virtual absl::Time LatestEnd(const PlannedCall& /*planned*/) const {
    return absl::InfiniteFuture();
  }
  virtual WrittenMessage Write(const PlannedCall& planned, Outputs outputs,
                               const CallTimes& times) const = 0;

 private:
  absl::Status Begin(const grpc::ByteBuffer& request) final;
  absl::Status Submit();
  void End(absl::StatusOr<Outputs> outputs);

  const uint32_t raw_field_;
  SplitMessage message_;
  std::shared_ptr<const PlannedCall> planned_;
  HeldRegions regions_;
  CallTimes times_;
};

}  // namespace opserve::server
