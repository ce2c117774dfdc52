#include "tests/client/fake_session_server.h"

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
  Service(OnCommand on_command, v1::SessionInfo info)
      : on_command_(std::move(on_command)), info_(std::move(info)) {}

  void Listen(const std::string& target) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(target, grpc::InsecureServerCredentials());
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }

  void Stop() { server_->Shutdown(std::chrono::system_clock::now()); }

  grpc::Status Session(
      grpc::ServerContext* /*context*/,
      grpc::ServerReaderWriter<v1::SessionResponse, v1::SessionRequest>* stream) override {
    v1::SessionResponse first;
    *first.mutable_info() = info_;
    stream->Write(first);
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
  std::unique_ptr<grpc::Server> server_;
  mutable Mutex mutex_;
  mutable CondVar changed_;
  std::vector<v1::SessionRequest> received_ ABSL_GUARDED_BY(mutex_);
  int64_t groups_ ABSL_GUARDED_BY(mutex_) = 0;
};

int AnswerAll(const v1::SessionRequest& request, const SendAnswer& send) {
  if (!request.quiet()) send(AnswerTo(request));
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

FakeSessionServer::FakeSessionServer(OnCommand on_command, const v1::SessionInfo& info)
    : service_(std::make_unique<Service>(std::move(on_command), info)) {
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

}  // namespace opserve::client
