// A real server on a free port and a unix socket, and a client that knows nothing but the generated
// stubs. Hides gRPC, whose headers are slow to compile.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "absl/time/time.h"
#include "google/rpc/error_details.pb.h"
#include "opserve/v1/operator_service.pb.h"
#include "server/flags/config.h"
#include "server/server.h"

namespace opserve::testing {

// What became of a call.
struct Outcome {
  std::string code;  // "OK", "INVALID_ARGUMENT", …
  std::string message;
  bool has_info = false;
  google::rpc::ErrorInfo info;  // if has_info
  absl::Duration took;

  bool ok() const { return code == "OK"; }
  std::string parameter() const;  // of info; empty when it has none
  std::string aclnn_code() const;
};

template <typename Response>
struct Answer : Outcome {
  Response response;
};

class Client {
 public:
  explicit Client(const std::string& address);
  ~Client();

  Answer<v1::ExecuteResponse> Execute(const v1::ExecuteRequest& request,
                                      absl::Duration timeout = absl::Seconds(60));
  Answer<v1::ExecuteBatchResponse> ExecuteBatch(const v1::ExecuteBatchRequest& request,
                                                absl::Duration timeout = absl::Seconds(60));
  Answer<v1::GetStatisticsResponse> GetStatistics();
  Answer<v1::GetServerInfoResponse> GetServerInfo();
  Answer<v1::ListOperatorsResponse> ListOperators(const v1::ListOperatorsRequest& request);
  Answer<v1::ListDevicesResponse> ListDevices();
  Answer<v1::GetWorkspaceSizeResponse> GetWorkspaceSize(const v1::GetWorkspaceSizeRequest& request);

  // Sends bytes as the request of a method, "/package.Service/Method": the bytes of its first
  // answer.
  Answer<std::string> Send(const std::string& path, const std::string& bytes);
  // The same for a method of our service.
  Outcome SendBytes(const std::string& method, const std::string& bytes);
  // Asks grpc.health.v1: "SERVING", "NOT_SERVING", or the code of an error.
  std::string Health(const std::string& service);

 private:
  struct Stubs;
  std::unique_ptr<Stubs> stubs_;
};

// A server in this process, with a folder of its own.
class TestServer {
 public:
  TestServer();
  ~TestServer();
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  // With `config` as it is by then. The test fails when the server does not start.
  void Start();
  void Stop() { server_.reset(); }

  Client& tcp() { return *tcp_; }
  Client& unix_socket() { return *unix_; }
  server::Server& server() { return *server_; }
  // Bytes that the devices' pools have lent now.
  int64_t used_bytes();

  std::filesystem::path folder;
  server::ServerConfig config;

 private:
  std::unique_ptr<server::Server> server_;
  std::unique_ptr<Client> tcp_;
  std::unique_ptr<Client> unix_;
};

// Starts a server for each test, with config_ as it is by then.
class ServerTest : public ::testing::Test {
 protected:
  void SetUp() override { running_.Start(); }

  Client& tcp() { return running_.tcp(); }
  Client& unix_socket() { return running_.unix_socket(); }
  server::Server& server() { return running_.server(); }
  int64_t used_bytes() { return running_.used_bytes(); }
  // The server works and holds nothing.
  void ExpectAliveAndEmpty();

 private:
  TestServer running_;

 protected:
  server::ServerConfig& config_ = running_.config;
  std::filesystem::path& folder_ = running_.folder;
};

}  // namespace opserve::testing
