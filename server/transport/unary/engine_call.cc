#include "server/transport/unary/engine_call.h"

#include <utility>

#include "server/calls/worker_task.h"
#include "server/transport/messages/inflate.h"
#include "server/transport/messages/raw_message.h"
#include "server/transport/unary/deadline.h"

namespace opserve::server {

void ReadOnWorker(const ExecuteContext& with, ClientId client,
                  const grpc::CallbackServerContext& context, size_t request_bytes,
                  HostCharge& charge, Reading read) {
  const absl::Status status = charge.Add(client, static_cast<int64_t>(request_bytes), "message");
  if (!status.ok()) return read(status);
  RunOnWorker(with.engine, client, [&context, read = std::move(read)]() mutable {
    read(context.IsCancelled() ? WhyCancelled(context) : absl::OkStatus());
  });
}

EngineCall::EngineCall(const ExecuteContext& with, Method method,
                       grpc::CallbackServerContext& context, size_t request_bytes,
                       grpc::ByteBuffer& response)
    : with_(with),
      context_(context),
      response_(response),
      meter_(with.sinks(), method, context, request_bytes),
      sample_(with.connections, context, request_bytes, with.answers.is_crowded()),
      caller_(context),
      charge_(with.host_memory) {
  ++with_.executing;
}

void EngineCall::Start(const grpc::ByteBuffer& request, uint32_t raw_field,
                       size_t max_raw_entries) {
  const absl::StatusOr<Caller> admitted = with_.gate.Admit(Role::kExecute, context_);
  if (!admitted.ok()) return Refuse(admitted.status());
  caller_ = *admitted;
  if (!TakesLongToRead(request, raw_field, max_raw_entries)) return Read(request);
  ReadOnWorker(with_, client(), context_, request.Length(), charge_,
               [this, &request](const absl::Status& status) {
                 if (!status.ok()) return Refuse(status);
                 Read(request);
               });
}

void EngineCall::Read(const grpc::ByteBuffer& request) {
  const PlainRequest plain(request, with_.max_inflated_bytes);
  absl::Status status = plain.status();
  if (plain.more_bytes() > 0) status = charge_.Add(client(), plain.more_bytes(), "message");
  if (status.ok()) status = Begin(plain.bytes());
  if (!status.ok()) Refuse(status);
}

void EngineCall::Answer(WrittenMessage answer, Memory memory) {
  response_ = ToByteBuffer(std::move(answer));
  const size_t bytes = response_.Length();
  const size_t host_bytes = memory == Memory::kOfHost ? bytes : 0;
  const absl::Status status =
      with_.answers.Begin(sample_, context_, {caller_, bytes, host_bytes}, leaving_);
  if (!status.ok()) response_.Clear();
  Finish(meter_.End(status, response_.Length()));
}

void EngineCall::OnDone() {
  sample_.End();
  delete this;
}

}  // namespace opserve::server
