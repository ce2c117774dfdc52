#include "tests/client/fake_session_server.h"

#include <gtest/gtest.h>

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "opserve/v1/session.grpc.pb.h"

namespace opserve::client {

class FakeSessionServer::Service final : public v1::SessionService::Service {
 public:
  Service(OnCommand on_command, v1::SessionInfo info, FirstWord first_word)
      : on_command_(std::move(on_command)), info_(std::move(info)), first_word_(first_word) {}

  void Listen(const std::string& target) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(target, grpc::InsecureServerCredentials());
    builder.RegisterService(this);
    builder.SetMaxReceiveMessageSize(64 << 20);
    server_ = builder.BuildAndStart();
  }

  void Stop() { server_->Shutdown(std::chrono::system_clock::now()); }

  grpc::Status Session(
      grpc::ServerContext* /*context*/,
      grpc::ServerReaderWriter<v1::SessionResponse, v1::SessionRequest>* stream) override {
    v1::SessionResponse first;
    *first.mutable_info() = info_;
    if (first_word_ == FirstWord::kInfo) stream->Write(first);
    const SendAnswer send = [stream](const v1::SessionResponse& answer) { stream->Write(answer); };
    v1::SessionRequest request;
    while (stream->Read(&request)) {
      const int code = request.commands().empty() ? Take(request, send) : TakeGroup(request, send);
      if (code != 0) return {static_cast<grpc::StatusCode>(code), "as scripted"};
    }
    return grpc::Status::OK;
  }

  int64_t groups() const {
    const MutexLock lock(mutex_);
    return groups_;
  }

  std::vector<v1::SessionRequest> received() const {
    const MutexLock lock(mutex_);
    return received_;
  }

  void WaitUntil(const std::function<bool(const std::vector<v1::SessionRequest>&)>& done) const {
    const MutexLock lock(mutex_);
    while (!done(received_)) changed_.Wait(mutex_);
  }

 private:
  int Take(const v1::SessionRequest& request, const SendAnswer& send) {
    Keep(request);
    return on_command_(request, send);
  }

  // Answers go as a group, too.
  int TakeGroup(const v1::SessionRequest& group, const SendAnswer& send) {
    {
      const MutexLock lock(mutex_);
      ++groups_;
    }
    v1::SessionResponse answers;
    int code = 0;
    for (const v1::SessionRequest& command : group.commands()) {
      if (code == 0) {
        code = Take(command, [&answers](const v1::SessionResponse& answer) {
          *answers.add_answers() = answer;
        });
      }
    }
    if (answers.answers_size() > 0) send(answers);
    return code;
  }

  void Keep(const v1::SessionRequest& request) {
    const MutexLock lock(mutex_);
    received_.push_back(request);
    changed_.NotifyAll();
  }

  const OnCommand on_command_;
  const v1::SessionInfo info_;
  const FirstWord first_word_;
  std::unique_ptr<grpc::Server> server_;
  mutable Mutex mutex_;
  mutable CondVar changed_;
  std::vector<v1::SessionRequest> received_ ABSL_GUARDED_BY(mutex_);
  int64_t groups_ ABSL_GUARDED_BY(mutex_) = 0;
};

namespace {

void DescribeOutput(const std::string& name, v1::Tensor& output) {
  output.set_name(name);
  output.set_dtype(v1::DTYPE_FLOAT32);
  output.add_shape(0);
}

// Results of the kind that the command has, with as little in them as there can be.
void AddResults(const v1::SessionRequest& request, v1::SessionResponse& answer) {
  if (request.has_query_event()) answer.mutable_event();
  if (request.has_query_stream()) answer.mutable_stream();
  if (request.has_query_elapsed_time()) answer.mutable_elapsed_time();
  if (request.has_query_memory()) answer.mutable_memory();
  if (request.has_inline_execute()) DescribeOutput("out", *answer.mutable_outputs()->add_outputs());
  if (!request.has_get_workspace_size()) return;
  v1::PlannedExecutor& plan = *answer.mutable_executor();
  for (const v1::Tensor& asked : request.get_workspace_size().call().outputs()) {
    v1::Tensor& output = *plan.add_outputs();
    output.set_name(asked.name());
    output.set_dtype(asked.dtype());
    *output.mutable_shape() = asked.shape();
  }
  if (plan.outputs().empty()) DescribeOutput("out", *plan.add_outputs());
}

}  // namespace

int AnswerAll(const v1::SessionRequest& request, const SendAnswer& send) {
  v1::SessionResponse answer = AnswerTo(request);
  AddResults(request, answer);
  if (!request.quiet()) send(answer);
  return 0;
}

v1::SessionResponse AnswerTo(const v1::SessionRequest& request) {
  v1::SessionResponse answer;
  answer.set_id(request.id());
  return answer;
}

v1::SessionResponse BadBetaOf(const v1::SessionRequest& request) {
  v1::ErrorInfo info;
  info.set_reason("ACLNN_ERR_PARAM_INVALID");
  info.set_domain("opserve");
  (*info.mutable_metadata())["operator"] = "Op";
  (*info.mutable_metadata())["parameter"] = "beta";
  (*info.mutable_metadata())["want"] = ">= 0";
  (*info.mutable_metadata())["got"] = "-1";
  v1::SessionResponse answer = AnswerTo(request);
  v1::StatusDetails& details = *answer.mutable_error();
  details.set_code(3);
  details.set_message("Op: beta: want >= 0, got -1");
  google::protobuf::Any& any = *details.add_details();
  any.set_type_url("type.googleapis.com/google.rpc.ErrorInfo");
  any.set_value(info.SerializeAsString());
  return answer;
}

v1::SessionInfo SmallLimits() {
  v1::SessionInfo info;
  info.set_memory_limit_bytes(1 << 30);
  info.set_max_handles(100);
  info.set_max_queued_commands(1000);
  info.set_window_bytes(4 << 20);
  info.set_max_skew_bytes(4000);
  info.set_recommended_chunk_bytes(1000);
  info.set_max_message_bytes(1 << 20);
  return info;
}

FakeSessionServer::FakeSessionServer(OnCommand on_command, const v1::SessionInfo& info,
                                     FirstWord first_word)
    : service_(std::make_unique<Service>(std::move(on_command), info, first_word)) {
  static std::atomic<int> number = 0;
  target_ = absl::StrCat("unix:/tmp/opserve-fake-session-", getpid(), "-", number.fetch_add(1));
  service_->Listen(target_);
}

FakeSessionServer::~FakeSessionServer() { service_->Stop(); }

std::vector<v1::SessionRequest> FakeSessionServer::received() const { return service_->received(); }

int64_t FakeSessionServer::groups() const { return service_->groups(); }

std::vector<v1::SessionRequest> FakeSessionServer::received(
    v1::SessionRequest::CommandCase kind) const {
  std::vector<v1::SessionRequest> matching;
  for (v1::SessionRequest& request : service_->received()) {
    if (request.command_case() == kind) matching.push_back(std::move(request));
  }
  return matching;
}

void FakeSessionServer::WaitUntil(
    const std::function<bool(const std::vector<v1::SessionRequest>&)>& done) const {
  service_->WaitUntil(done);
}

Session Open(const FakeSessionServer& server, SessionOptions options) {
  absl::StatusOr<Session> session =
      Client::Connect(server.target())->OpenSession(std::move(options));
  if (!session.ok()) ADD_FAILURE() << session.status();
  return *std::move(session);
}

}  // namespace opserve::client
