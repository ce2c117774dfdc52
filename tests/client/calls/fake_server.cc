#include "tests/client/calls/fake_server.h"

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "opserve/v1/operator_service.grpc.pb.h"

namespace opserve::client {

class FakeServer::Service final : public v1::OperatorService::Service {
 public:
  Service(std::function<Reply(const v1::ExecuteRequest&)> execute, int max_message_bytes,
          std::string memory_socket)
      : execute_(std::move(execute)),
        max_message_bytes_(max_message_bytes),
        memory_socket_(std::move(memory_socket)) {}

  void Listen(const std::string& target) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(target, grpc::InsecureServerCredentials());
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    builder.SetMaxReceiveMessageSize(max_message_bytes_);
    server_ = builder.BuildAndStart();
  }

  int port() const { return port_; }

  void Stop() { server_->Shutdown(std::chrono::system_clock::now()); }

  void HoldInfo() { holds_info_ = true; }

  grpc::Status GetServerInfo(grpc::ServerContext* context,
                             const v1::GetServerInfoRequest* /*request*/,
                             v1::GetServerInfoResponse* response) override {
    while (holds_info_ && !context->IsCancelled()) absl::SleepFor(absl::Milliseconds(1));
    response->set_version("1.2.3");
    response->set_max_message_bytes(max_message_bytes_);
    response->set_max_rank(8);
    response->set_shared_memory_socket(memory_socket_);
    return grpc::Status::OK;
  }

  grpc::Status ListOperators(grpc::ServerContext* /*context*/,
                             const v1::ListOperatorsRequest* request,
                             v1::ListOperatorsResponse* response) override {
    for (const std::string& name : request->names()) {
      v1::OperatorSchema& schema = *response->add_operators();
      schema.set_name(name);
      v1::TensorParameter& input = *schema.add_inputs();
      input.set_name("x");
      input.set_optional(true);
      input.add_dtypes(v1::DATA_TYPE_BFLOAT16);
      v1::AttributeParameter& required = *schema.add_attributes();
      required.set_kind(v1::ATTRIBUTE_KIND_INT_LIST);
      v1::AttributeParameter& with_default = *schema.add_attributes();
      with_default.set_kind(static_cast<v1::AttributeKind>(99));
      with_default.mutable_default_value()->set_float_value(0.5);
      with_default.mutable_range()->set_maximum(1);
      with_default.mutable_range()->set_maximum_excluded(true);
      v1::AttributeChoice& choice = *required.add_choices();
      choice.set_value(3);
      choice.set_name("three");
      required.set_list_length(2);
      v1::Gradient& gradient = *schema.mutable_gradient();
      gradient.set_op(name + "Backward");
      gradient.add_inputs()->set_output_gradient("y");
      gradient.add_inputs();  // of a source that is not known yet
      gradient.add_outputs()->set_input("x");
      schema.add_support()->set_profile("host");
      schema.set_streams_in_chunks(true);
    }
    return grpc::Status::OK;
  }

  grpc::Status ListDevices(grpc::ServerContext* /*context*/,
                           const v1::ListDevicesRequest* /*request*/,
                           v1::ListDevicesResponse* response) override {
    v1::Device& device = *response->add_devices();
    device.set_name("cpu:0");
    device.set_threads(2);
    device.add_operators("Op");
    device.mutable_memory()->set_limit_bytes(7);
    device.set_state(v1::DEVICE_STATE_WORKING);
    v1::Device& lost = *response->add_devices();
    lost.set_state(v1::DEVICE_STATE_LOST);
    lost.set_state_reason("fell off the bus");
    return grpc::Status::OK;
  }

  grpc::Status GetWorkspaceSize(grpc::ServerContext* /*context*/,
                                const v1::GetWorkspaceSizeRequest* request,
                                v1::GetWorkspaceSizeResponse* response) override {
    response->set_workspace_bytes(64);
    for (const v1::Tensor& input : request->call().inputs()) {
      if (input.data_case() != v1::Tensor::DATA_NOT_SET)
        return {grpc::StatusCode::INVALID_ARGUMENT, "data"};
      *response->add_outputs() = input;
    }
    response->set_device("cpu:0");
    response->mutable_cost()->set_expected_ns(1500);
    response->mutable_cost()->set_runs_inline(true);
    return grpc::Status::OK;
  }

  grpc::Status Execute(grpc::ServerContext* context, const v1::ExecuteRequest* request,
                       v1::ExecuteResponse* response) override {
    Reply reply = execute_(*request);
    while (reply.hold && !context->IsCancelled()) absl::SleepFor(absl::Milliseconds(1));
    *response = std::move(reply.response);
    return {static_cast<grpc::StatusCode>(reply.code), reply.message, reply.details};
  }

  // Each call as Execute does it; an error of one is the whole's when it has no details.
  grpc::Status ExecuteBatch(grpc::ServerContext* /*context*/,
                            const v1::ExecuteBatchRequest* request,
                            v1::ExecuteBatchResponse* response) override {
    for (const v1::Call& call : request->calls()) {
      v1::ExecuteRequest single;
      *single.mutable_call() = call;
      *single.mutable_raw() = request->raw();
      const Reply reply = execute_(single);
      v1::BatchResult& result = *response->add_results();
      if (reply.code != 0) {
        if (!result.mutable_error()->ParseFromString(reply.details))
          return {static_cast<grpc::StatusCode>(reply.code), reply.message};
        continue;
      }
      *result.mutable_outputs() = reply.response.outputs();
      for (v1::Tensor& output : *result.mutable_outputs())
        output.set_raw_index(output.raw_index() + static_cast<uint32_t>(response->raw_size()));
      response->mutable_raw()->MergeFrom(reply.response.raw());
    }
    return grpc::Status::OK;
  }

  grpc::Status GetStatistics(grpc::ServerContext* /*context*/,
                             const v1::GetStatisticsRequest* /*request*/,
                             v1::GetStatisticsResponse* response) override {
    response->set_uptime_ns(1500000000);
    v1::MethodStatistics& method = *response->add_methods();
    method.set_method("Execute");
    method.add_ended()->set_name("OK");
    method.mutable_ended(0)->set_calls(7);
    response->add_errors()->set_reason("DRAINING");
    response->mutable_errors(0)->set_errors(2);
    response->mutable_batches()->set_calls(3);
    response->mutable_sessions()->set_open(4);
    response->mutable_engine()->set_queue_wait_ns(5000);
    v1::OperatorStatistics& op = *response->add_operators();
    op.set_op("L1Loss");
    op.set_calls(8);
    op.set_execution_ns(9000);
    response->add_devices()->set_device("cpu:0");
    response->mutable_devices(0)->mutable_memory()->set_hits(6);
    return grpc::Status::OK;
  }

 private:
  const std::function<Reply(const v1::ExecuteRequest&)> execute_;
  const int max_message_bytes_;
  const std::string memory_socket_;
  std::atomic<bool> holds_info_ = false;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
};

FakeServer::FakeServer(std::function<Reply(const v1::ExecuteRequest&)> execute,
                       int max_message_bytes, std::string target, std::string memory_socket)
    : target_(std::move(target)),
      service_(std::make_unique<Service>(std::move(execute), max_message_bytes,
                                         std::move(memory_socket))) {
  static std::atomic<int> number = 0;
  if (target_.empty())
    target_ = absl::StrCat("unix:/tmp/opserve-fake-", getpid(), "-", number.fetch_add(1));
  service_->Listen(target_);
}

void FakeServer::HoldInfo() { service_->HoldInfo(); }

std::string FakeServer::address() const { return absl::StrCat("127.0.0.1:", service_->port()); }

FakeServer::~FakeServer() { service_->Stop(); }

Reply Echo(const v1::ExecuteRequest& request) {
  Reply reply;
  v1::Tensor& output = *reply.response.add_outputs();
  output = request.call().inputs(0);
  output.set_name("out");
  *reply.response.add_raw() = request.raw(static_cast<int>(output.raw_index()));
  output.set_raw_index(0);
  return reply;
}

}  // namespace opserve::client
