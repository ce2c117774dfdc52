#include "tests/server/pending_call.h"

#include <future>

#include <google/protobuf/wrappers.pb.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include "core/base/clock.h"
#include "opserve/v1/operator_service.grpc.pb.h"
#include "tests/server/outcome.h"
#include "tests/server/requests.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

// One step of a completion queue: whether the operation succeeded.
bool Step(grpc::CompletionQueue& queue) {
  void* tag = nullptr;
  bool ok = false;
  return queue.Next(&tag, &ok) && ok;
}

}  // namespace

v1::ExecuteRequest LongRequest(int64_t elements) {
  v1::ExecuteRequest request;
  request.mutable_call()->set_op("L1Loss");
  AddInput(request, "self", v1::DATA_TYPE_FLOAT32, {elements}, {3}).add_strides(0);
  AddInput(request, "target", v1::DATA_TYPE_FLOAT32, {}, {1});
  AddInt(*request.mutable_call(), "reduction", 1);
  return request;
}

template <typename Request, typename Response>
struct Pending {
  explicit Pending(const std::string& address)
      : stub(v1::OperatorService::NewStub(OwnChannel(address))) {}

  void End(const grpc::Status& ended) { promise.set_value(ended); }

  void RoundTrip() {
    grpc::ClientContext own_context;
    v1::GetServerInfoResponse info;
    const grpc::Status answered = stub->GetServerInfo(&own_context, {}, &info);
    EXPECT_THAT(answered, IsOk());
  }

  void CancelAndWait() {
    context.TryCancel();
    if (status.valid()) status.wait();
  }

  Answer<Response> Wait() {
    Answer<Response> answer;
    Describe(status.get(), answer);
    answer.response = response;
    return answer;
  }

  std::unique_ptr<v1::OperatorService::Stub> stub;
  grpc::ClientContext context;
  Request request;
  Response response;
  std::promise<grpc::Status> promise;
  std::future<grpc::Status> status = promise.get_future();
};

struct PendingCall::State : Pending<v1::ExecuteRequest, v1::ExecuteResponse> {
  using Pending::Pending;
};

PendingCall::PendingCall(const std::string& address, const v1::ExecuteRequest& request,
                         absl::Duration timeout)
    : state_(std::make_unique<State>(address)) {
  State& state = *state_;
  state.request = request;
  SetTimeout(state.context, timeout);
  state.stub->async()->Execute(&state.context, &state.request, &state.response,
                               [&state](const grpc::Status& status) { state.End(status); });
}

PendingCall::~PendingCall() { state_->CancelAndWait(); }
void PendingCall::RoundTrip() { state_->RoundTrip(); }
void PendingCall::Cancel() { state_->context.TryCancel(); }
Answer<v1::ExecuteResponse> PendingCall::Wait() { return state_->Wait(); }

struct PendingBatch::State : Pending<v1::ExecuteBatchRequest, v1::ExecuteBatchResponse> {
  using Pending::Pending;
};

PendingBatch::PendingBatch(const std::string& address, const v1::ExecuteBatchRequest& request)
    : state_(std::make_unique<State>(address)) {
  State& state = *state_;
  state.request = request;
  state.stub->async()->ExecuteBatch(&state.context, &state.request, &state.response,
                                    [&state](const grpc::Status& status) { state.End(status); });
}

PendingBatch::~PendingBatch() { state_->CancelAndWait(); }
void PendingBatch::RoundTrip() { state_->RoundTrip(); }
void PendingBatch::Cancel() { state_->context.TryCancel(); }
Answer<v1::ExecuteBatchResponse> PendingBatch::Wait() { return state_->Wait(); }

struct HealthWatch::State {
  explicit State(const std::string& address) : stub(OwnChannel(address)) {}
  ~State() {
    context.TryCancel();
    queue.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue.Next(&tag, &ok)) {
    }
  }

  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  grpc::GenericStub stub;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call;
};

HealthWatch::HealthWatch(const std::string& address, const std::string& service)
    : state_(std::make_unique<State>(address)) {
  google::protobuf::StringValue request;  // as HealthCheckRequest
  request.set_value(service);
  State& state = *state_;
  state.call = state.stub.PrepareCall(&state.context, "/grpc.health.v1.Health/Watch", &state.queue);
  state.call->StartCall(nullptr);
  EXPECT_TRUE(Step(state.queue));
  state.call->WriteLast(BufferOf(request.SerializeAsString()), {}, nullptr);
  EXPECT_TRUE(Step(state.queue));
}

HealthWatch::~HealthWatch() = default;

std::string HealthWatch::Next() {
  grpc::ByteBuffer buffer;
  state_->call->Read(&buffer, nullptr);
  if (!Step(state_->queue)) return "";
  return HealthStatus(BytesOfBuffer(buffer));
}

}  // namespace opserve::testing
