#include "tests/server/test_server.h"

#include <unistd.h>

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

constexpr absl::Duration kTimeout = absl::Seconds(60);

template <typename Response, typename Call>
Answer<Response> Measure(absl::Duration timeout, Call call) {
  Answer<Response> answer;
  grpc::ClientContext context;
  SetTimeout(context, timeout);
  const absl::Time start = Clock::Real().Now();
  Describe(call(context, answer.response), answer);
  answer.took = Clock::Real().Now() - start;
  return answer;
}

}  // namespace

struct Client::Stubs {
  explicit Stubs(const std::shared_ptr<grpc::Channel>& channel)
      : service(v1::OperatorService::NewStub(channel)), generic(channel) {}

  // A unary call of bytes to any method.
  grpc::Status Call(const std::string& method, const std::string& request, std::string& response) {
    grpc::ClientContext context;
    SetTimeout(context, kTimeout);
    grpc::CompletionQueue queue;
    const grpc::ByteBuffer sent = BufferOf(request);
    grpc::ByteBuffer received;
    grpc::Status status;
    const auto call = generic.PrepareUnaryCall(&context, method, sent, &queue);
    call->StartCall();
    call->Finish(&received, &status, nullptr);
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    response = BytesOfBuffer(received);
    return status;
  }

  std::unique_ptr<v1::OperatorService::Stub> service;
  grpc::GenericStub generic;
};

Client::Client(const std::string& address) : stubs_(std::make_unique<Stubs>(OwnChannel(address))) {}

Client::~Client() = default;

Answer<v1::ExecuteResponse> Client::Execute(const v1::ExecuteRequest& request,
                                            absl::Duration timeout) {
  return Measure<v1::ExecuteResponse>(
      timeout, [&](grpc::ClientContext& context, v1::ExecuteResponse& response) {
        return stubs_->service->Execute(&context, request, &response);
      });
}

Answer<v1::ExecuteBatchResponse> Client::ExecuteBatch(const v1::ExecuteBatchRequest& request,
                                                      absl::Duration timeout) {
  return Measure<v1::ExecuteBatchResponse>(
      timeout, [&](grpc::ClientContext& context, v1::ExecuteBatchResponse& response) {
        return stubs_->service->ExecuteBatch(&context, request, &response);
      });
}

Answer<v1::GetStatisticsResponse> Client::GetStatistics() {
  return Measure<v1::GetStatisticsResponse>(
      kTimeout, [&](grpc::ClientContext& context, auto& response) {
        return stubs_->service->GetStatistics(&context, {}, &response);
      });
}

Answer<v1::GetServerInfoResponse> Client::GetServerInfo() {
  return Measure<v1::GetServerInfoResponse>(
      kTimeout, [&](grpc::ClientContext& context, auto& response) {
        return stubs_->service->GetServerInfo(&context, {}, &response);
      });
}

Answer<v1::ListOperatorsResponse> Client::ListOperators(const v1::ListOperatorsRequest& request) {
  return Measure<v1::ListOperatorsResponse>(
      kTimeout, [&](grpc::ClientContext& context, auto& response) {
        return stubs_->service->ListOperators(&context, request, &response);
      });
}

Answer<v1::ListDevicesResponse> Client::ListDevices() {
  return Measure<v1::ListDevicesResponse>(
      kTimeout, [&](grpc::ClientContext& context, auto& response) {
        return stubs_->service->ListDevices(&context, {}, &response);
      });
}

Answer<v1::GetWorkspaceSizeResponse> Client::GetWorkspaceSize(
    const v1::GetWorkspaceSizeRequest& request) {
  return Measure<v1::GetWorkspaceSizeResponse>(
      kTimeout, [&](grpc::ClientContext& context, auto& response) {
        return stubs_->service->GetWorkspaceSize(&context, request, &response);
      });
}

Answer<std::string> Client::Send(const std::string& path, const std::string& bytes) {
  Answer<std::string> answer;
  Describe(stubs_->Call(path, bytes, answer.response), answer);
  return answer;
}

Outcome Client::SendBytes(const std::string& method, const std::string& bytes) {
  const Answer<std::string> answer = Send("/opserve.v1.OperatorService/" + method, bytes);
  return static_cast<const Outcome&>(answer);
}

std::string Client::Health(const std::string& service) {
  google::protobuf::StringValue request;  // as HealthCheckRequest
  request.set_value(service);
  const Answer<std::string> answer =
      Send("/grpc.health.v1.Health/Check", request.SerializeAsString());
  return answer.ok() ? HealthStatus(answer.response) : answer.code;
}

TestServer::TestServer() {
  std::string name = (std::filesystem::temp_directory_path() / "opserveXXXXXX").string();
  EXPECT_NE(::mkdtemp(name.data()), nullptr);
  folder = name;
  config.listen = {"127.0.0.1:0", "unix:" + (folder / "socket").string()};
  config.devices[0].threads = 2;
}

TestServer::~TestServer() {
  server_.reset();
  std::filesystem::remove_all(folder);
}

void TestServer::Start() {
  absl::StatusOr<std::unique_ptr<server::Server>> started = server::Server::Start(config);
  ASSERT_THAT(started, IsOk());
  server_ = *std::move(started);
  ASSERT_EQ(server_->addresses().size(), 2u);
  tcp_ = std::make_unique<Client>(server_->addresses()[0]);
  unix_ = std::make_unique<Client>(server_->addresses()[1]);
}

int64_t TestServer::used_bytes() {
  int64_t bytes = 0;
  for (const auto& device : server_->engine().devices())
    bytes += device->memory().stats().used_bytes;
  return bytes;
}

void ServerTest::ExpectAliveAndEmpty() {
  const Answer<v1::ExecuteResponse> answer = tcp().Execute(SampleRequest());
  EXPECT_THAT(answer, IsOk());
  EXPECT_EQ(OutputOf(answer.response), SampleGradient());
  EXPECT_EQ(used_bytes(), 0);
}

}  // namespace opserve::testing
