#include "client/loadtest/transport/echo_server.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/server_callback_handlers.h>
#include <grpcpp/impl/rpc_service_method.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/support/byte_buffer.h>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace opserve::loadtest {
namespace {

using grpc::ByteBuffer;

using StreamAnswer = std::function<std::string(std::string_view message)>;

// One message after the other.
class EchoStream final : public grpc::ServerBidiReactor<ByteBuffer, ByteBuffer> {
 public:
  explicit EchoStream(const StreamAnswer& answer) : answer_(answer) { StartRead(&in_); }

 private:
  void OnReadDone(bool ok) override {
    grpc::Slice message;
    if (!ok || !in_.DumpToSingleSlice(&message).ok()) return Finish(grpc::Status::OK);
    in_.Clear();
    const grpc::Slice bytes(
        answer_({reinterpret_cast<const char*>(message.begin()), message.size()}));
    out_ = ByteBuffer(&bytes, 1);
    StartWrite(&out_);
  }
  void OnWriteDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::OK);
    StartRead(&in_);
  }
  void OnDone() override { delete this; }

  const StreamAnswer& answer_;
  ByteBuffer in_;
  ByteBuffer out_;
};

class EchoService final : public grpc::Service {
 public:
  explicit EchoService(EchoServer::Answers answers) : answers_(std::move(answers)) {
    // gRPC keeps pointers to the names.
    for (size_t i = 0; i < answers_.unary.size(); ++i) names_.push_back(EchoServer::MethodOf(i));
    for (size_t i = 0; i < answers_.unary.size(); ++i) AddUnary(i);
    if (!answers_.stream_method.empty()) AddStream();
  }

 private:
  using RpcMethod = grpc::internal::RpcMethod;

  void AddUnary(size_t index) {
    const std::string& answer = answers_.unary[index];
    const grpc::Slice bytes(answer.data(), answer.size(), grpc::Slice::STATIC_SLICE);
    const auto start = [bytes](grpc::CallbackServerContext* context, const ByteBuffer* /*request*/,
                               ByteBuffer* response) {
      *response = ByteBuffer(&bytes, 1);
      grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
      reactor->Finish(grpc::Status::OK);
      return reactor;
    };
    AddMethod(new grpc::internal::RpcServiceMethod(names_[index].c_str(), RpcMethod::NORMAL_RPC,
                                                   nullptr));
    MarkMethodRawCallback(static_cast<int>(index),
                          new grpc::internal::CallbackUnaryHandler<ByteBuffer, ByteBuffer>(start));
  }

  void AddStream() {
    const auto start = [this](grpc::CallbackServerContext* /*context*/) {
      return new EchoStream(answers_.stream);
    };
    AddMethod(new grpc::internal::RpcServiceMethod(answers_.stream_method.c_str(),
                                                   RpcMethod::BIDI_STREAMING, nullptr));
    MarkMethodRawCallback(static_cast<int>(answers_.unary.size()),
                          new grpc::internal::CallbackBidiHandler<ByteBuffer, ByteBuffer>(start));
  }

  const EchoServer::Answers answers_;
  std::vector<std::string> names_;
};

// A folder of this user's that is removed with all that is in it.
class OwnFolder {
 public:
  OwnFolder() = default;
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;
  ~OwnFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

  absl::Status Make() {
    std::error_code error;
    std::string path =
        (std::filesystem::temp_directory_path(error) / "opserve-bench-XXXXXX").string();
    if (error || ::mkdtemp(path.data()) == nullptr)
      return absl::UnavailableError(absl::StrCat("cannot make the folder ", path));
    path_ = path;
    return absl::OkStatus();
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class GrpcEchoServer final : public EchoServer {
 public:
  explicit GrpcEchoServer(Answers answers) : service_(std::move(answers)) {}
  ~GrpcEchoServer() override {
    if (server_ == nullptr) return;
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
  }

  absl::Status Listen(Socket socket) {
    if (socket == Socket::kUnix) OPSERVE_RETURN_IF_ERROR(folder_.Make());
    const std::string address =
        socket == Socket::kUnix ? absl::StrCat("unix:", folder_.path(), "/echo") : "127.0.0.1:0";
    int port = 0;
    grpc::ServerBuilder builder;
    builder.RegisterService(&service_);
    builder.SetMaxReceiveMessageSize(-1);
    builder.SetMaxSendMessageSize(-1);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr || port == 0)
      return absl::UnavailableError(absl::StrCat("cannot listen on ", address));
    target_ = socket == Socket::kUnix ? address : absl::StrCat("127.0.0.1:", port);
    return absl::OkStatus();
  }

  const std::string& target() const override { return target_; }

 private:
  OwnFolder folder_;
  EchoService service_;
  std::string target_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<EchoServer>> EchoServer::Start(Answers answers, Socket socket) {
  auto server = std::make_unique<GrpcEchoServer>(std::move(answers));
  OPSERVE_RETURN_IF_ERROR(server->Listen(socket));
  return server;
}

std::string EchoServer::MethodOf(size_t answer) { return absl::StrCat("/opserve.Echo/", answer); }

}  // namespace opserve::loadtest
