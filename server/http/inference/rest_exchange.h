// One request of the Open Inference Protocol by HTTP: its body, bounded, and its answer, counted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "core/base/trace_context.h"
#include "core/engine/engine.h"
#include "server/calls/plan_cache.h"
#include "server/counters/server_counters.h"
#include "server/http/inference/running_calls.h"
#include "server/http/port/http_messages.h"
#include "server/identity/token_store.h"
#include "server/rest/rest_path.h"
#include "server/session/host_memory.h"
#include "server/shared_memory/named_region_table.h"
#include "server/tracing/call_tally.h"

namespace opserve::server {

// What such requests need. All of it must outlive them.
struct RestContext {
  Engine& engine;
  ServerCounters& counters;
  CallObserver& observer;
  PlanCache& plans;
  HostMemory& host_memory;
  NamedRegionTable* named_regions;  // nullptr where shared memory is not allowed
  const TokenStore* tokens;         // nullptr: everybody may call everything
  int64_t max_message_bytes;
  double client_share;
};

// What the requests of a server share.
struct RestState {
  RestState(const RestContext& context, int64_t most_calls)
      : with(context), running(most_calls, context.client_share) {}

  const RestContext with;
  RunningCalls running;
  std::atomic<bool> is_ready = true;
};

// What is kept of a request's head.
struct RestHead {
  explicit RestHead(const HttpHead& head);

  std::string method;
  RestResource resource = RestResource::kNone;
  std::string model;
  std::string version;
  std::string region;
  ClientId client;
  ClientId of_token = ClientId::kNone;
  std::optional<uid_t> user;  // of this machine; asked for where there is shared memory
  std::string peer;
  std::optional<TraceContext> trace;
  std::string allowed_origin;  // for the answer; empty for none
};

// Of a method of HTTP's that the resource has; by gRPC's name.
Method MethodOf(RestResource resource);

// With the headers that are due to `head`.
HttpResponse JsonResponse(const RestHead& head, int status, std::string json);
HttpResponse ErrorResponse(const RestHead& head, const absl::Status& status);

// Lives until its answer was made and the port is done with the request.
class RestExchange : public HttpBody, private CallOrigin {
 public:
  RestExchange(RestState& state, RestHead head, size_t max_body_bytes);

  std::optional<HttpResponse> Take(std::span<const std::byte> piece) final;
  void End(std::shared_ptr<HttpCall> call) final;

  // So many bytes are to come, or else an answer.
  std::optional<HttpResponse> Expect(uint64_t body_bytes);
  // Counts a request that is answered so before its body came.
  HttpResponse Refuse(const absl::Status& status);

  const RestHead& head() const { return head_; }

 protected:
  // The body is whole: answers, now or later, by the two below.
  virtual void Run() = 0;

  // Once. Any thread.
  void Answer(HttpResponse response);
  void Fail(const absl::Status& status);

  const RestContext& with() const { return state_.with; }
  RestState& state() { return state_; }
  const std::string& body() const { return body_; }
  void DropBody() { std::string().swap(body_); }
  HostCharge& charge() { return charge_; }
  CallTally& tally() { return *tally_; }
  bool IsCancelled() const { return call_->IsCancelled() || state_.running.is_cancelled(); }

 private:
  void StartTally();
  HttpResponse RefuseTooLarge();

  std::string peer() const override { return head_.peer; }
  std::optional<TraceContext> trace() const override { return head_.trace; }

  RestState& state_;
  const RunningCalls::Life life_{state_.running};  // before all that it keeps state for
  const RestHead head_;
  const size_t max_body_bytes_;
  std::string body_;
  HostCharge charge_;
  std::optional<CallTally> tally_;
  std::shared_ptr<HttpCall> call_;
};

}  // namespace opserve::server
