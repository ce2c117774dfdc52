// What the calls that run on the engine, Execute and ExecuteBatch, have in common.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "core/base/client_id.h"
#include "core/engine/engine.h"
#include "server/calls/plan_cache.h"
#include "server/codec/raw_writer.h"
#include "server/connections/connection_table.h"
#include "server/counters/server_counters.h"
#include "server/session/host_memory.h"
#include "server/shared_memory/named_region_table.h"
#include "server/shared_memory/region_table.h"
#include "server/tracing/call_observer.h"
#include "server/transport/unary/answer_watch.h"
#include "server/transport/unary/call_meter.h"
#include "server/transport/unary/call_sample.h"
#include "server/transport/unary/gate.h"

namespace opserve::server {

// What such calls need. All of it must outlive them.
struct ExecuteContext {
  const Gate& gate;
  Engine& engine;
  ServerCounters& counters;
  CallObserver& observer;
  const LoadReports& load_reports;
  std::atomic<int64_t>& executing;  // counts the calls that are not over yet
  PlanCache& plans;
  const ConnectionTable& connections;
  AnswerWatch& answers;
  HostMemory& host_memory;
  // Largest message in either direction: a call whose answer would be larger is refused before it
  // runs.
  int64_t max_message_bytes;
  // What a compressed request may inflate to; 0: such are refused before they come here.
  int64_t max_inflated_bytes;
  const RegionTable* regions;       // nullptr where shared memory is not allowed
  NamedRegionTable* named_regions;  // likewise, that of the Open Inference Protocol

  CallSinks sinks() const { return {counters, observer, load_reports}; }
};

// What a call does with a request that waited for a worker: OK, or why it is not to be read.
using Reading = absl::AnyInvocable<void(const absl::Status&)>;

// Calls `read` on a worker, in the client's turn, and charges the request's bytes until `charge`
// ends. With CANCELLED or DEADLINE_EXCEEDED when the call has ended meanwhile; here and now with
// RESOURCE_EXHAUSTED when there is no memory for it.
void ReadOnWorker(const ExecuteContext& with, ClientId client,
                  const grpc::CallbackServerContext& context, size_t request_bytes,
                  HostCharge& charge, Reading read);

// One call: read here or, where that takes long, on a worker; counted, and its answer watched.
// Owned by gRPC: lives until OnDone, which follows Refuse or Answer, which follow the engine's
// `done`. Never blocks.
class EngineCall : public grpc::ServerUnaryReactor {
 public:
  EngineCall(const ExecuteContext& with, Method method, grpc::CallbackServerContext& context,
             size_t request_bytes, grpc::ByteBuffer& response);
  ~EngineCall() override { --with_.executing; }

  // Once. `request` stays until the call is over.
  void Start(const grpc::ByteBuffer& request, uint32_t raw_field, size_t max_raw_entries);

 protected:
  enum class Memory : uint8_t { kOfDevice, kOfHost };

  // Takes a request that is not compressed. An error ends the call; after OK this ends it, and may
  // have done so.
  virtual absl::Status Begin(const grpc::ByteBuffer& request) = 0;

  void Refuse(const absl::Status& status) { Finish(meter_.End(status, 0)); }
  // `memory` is what its entries lie in.
  void Answer(WrittenMessage answer, Memory memory);

  const ExecuteContext& with() const { return with_; }
  grpc::CallbackServerContext& context() const { return context_; }
  const Caller& caller() const { return caller_; }
  ClientId client() const { return caller_.client(); }
  CallMeter& meter() { return meter_; }
  // Of what came, until it is cleared.
  HostCharge& charge() { return charge_; }

 private:
  void Read(const grpc::ByteBuffer& request);
  void OnDone() final;
  // What happens here is short: gRPC need not hand it to a thread, which costs an eighth of a small
  // call.
  bool InternalInlineable() final { return true; }

  const ExecuteContext with_;
  grpc::CallbackServerContext& context_;
  grpc::ByteBuffer& response_;
  CallMeter meter_;
  const CallSample sample_;
  Caller caller_;  // once let in
  HostCharge charge_;
  AnswerWatch::Watched leaving_;
};

}  // namespace opserve::server
