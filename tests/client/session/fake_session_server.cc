#include "tests/client/session/fake_session_server.h"

#include <gtest/gtest.h>

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"
#include "opserve/v1/session.grpc.pb.h"

namespace opserve::client {
namespace {

// Takes a message's commands apart.
class Unpacker {
 public:
  // Must outlive it.
  explicit Unpacker(const v1::SessionRequest& request)
      : request_(request), used_(static_cast<size_t>(request.raw_size())) {}
  ~Unpacker() {
    EXPECT_EQ(std::count(used_.begin(), used_.end(), false), 0) << "entries that no command uses";
  }
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  ReceivedCommand Take(const v1::Command& command) {
    ReceivedCommand taken{command, {}};
    v1::Command& message = taken.message;
    places_.clear();
    if (message.has_upload())
      message.mutable_upload()->set_raw_index(TakeEntry(message.upload().raw_index(), taken));
    if (message.has_input_chunk()) {
      v1::InputChunkCommand& chunk = *message.mutable_input_chunk();
      chunk.set_raw_index(TakeEntry(chunk.raw_index(), taken));
    }
    if (message.has_execute()) TakeInputs(*message.mutable_execute()->mutable_call(), taken);
    if (message.has_execute_chunked())
      TakeInputs(*message.mutable_execute_chunked()->mutable_call(), taken);
    return taken;
  }

 private:
  void TakeInputs(v1::Call& call, ReceivedCommand& taken) {
    for (v1::Tensor& input : *call.mutable_inputs())
      if (input.has_raw_index()) input.set_raw_index(TakeEntry(input.raw_index(), taken));
  }

  // The index among those of the command.
  uint32_t TakeEntry(uint32_t index, ReceivedCommand& taken) {
    if (index >= used_.size()) {
      ADD_FAILURE() << "entry " << index << " of " << used_.size();
      return index;
    }
    const auto [place, is_new] =
        places_.try_emplace(index, static_cast<uint32_t>(taken.raw.size()));
    if (is_new) taken.raw.push_back(request_.raw(static_cast<int>(index)));
    used_[index] = true;
    return place->second;
  }

  const v1::SessionRequest& request_;
  std::vector<bool> used_;
  std::map<uint32_t, uint32_t> places_;  // by index in the message
};

// Puts `one`, a message of one answer, behind the answers that are there.
void Append(v1::SessionResponse one, v1::SessionResponse& answers) {
  const auto shift = static_cast<uint32_t>(answers.raw_size());
  v1::Answer& answer = *one.mutable_answers(0);
  if (answer.has_chunk()) answer.mutable_chunk()->set_raw_index(shift + answer.chunk().raw_index());
  if (answer.has_outputs()) {
    for (v1::Tensor& output : *answer.mutable_outputs()->mutable_outputs())
      if (output.has_raw_index()) output.set_raw_index(shift + output.raw_index());
  }
  answers.MergeFrom(one);
}

}  // namespace

void SendAnswer::operator()(const v1::Answer& answer, const std::vector<std::string>& raw) const {
  v1::SessionResponse message;
  *message.add_answers() = answer;
  for (const std::string& entry : raw) message.add_raw(entry);
  add_(message);
}

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
    *first.add_answers()->mutable_info() = info_;
    if (first_word_ == FirstWord::kInfo) stream->Write(first);
    const auto write = [stream](const v1::SessionResponse& message) { stream->Write(message); };
    v1::SessionRequest request;
    while (stream->Read(&request)) {
      const int code = TakeAll(request, write);
      if (code != 0) return {static_cast<grpc::StatusCode>(code), "as scripted"};
    }
    return grpc::Status::OK;
  }

  int64_t groups() const {
    const MutexLock lock(mutex_);
    return groups_;
  }

  std::vector<ReceivedCommand> received() const {
    const MutexLock lock(mutex_);
    return received_;
  }

  void WaitUntil(const std::function<bool(const std::vector<ReceivedCommand>&)>& done) const {
    const MutexLock lock(mutex_);
    while (!done(received_)) changed_.Wait(mutex_);
  }

 private:
  // The answers to several commands that came together go together.
  int TakeAll(const v1::SessionRequest& request, const SendAnswer::Write& write) {
    const bool together = request.commands_size() > 1;
    v1::SessionResponse answers;
    const auto add = [&](const v1::SessionResponse& one) {
      together ? Append(one, answers) : write(one);
    };
    const SendAnswer send(write, add);
    Unpacker unpacker(request);
    int code = 0;
    for (const v1::Command& command : request.commands()) {
      const ReceivedCommand taken = unpacker.Take(command);
      if (code != 0) continue;
      Keep(taken, together && &command == &request.commands(0));
      code = on_command_(taken, send);
    }
    if (answers.answers_size() > 0) write(answers);
    return code;
  }

  void Keep(const ReceivedCommand& command, bool begins_group) {
    const MutexLock lock(mutex_);
    received_.push_back(command);
    groups_ += begins_group ? 1 : 0;
    changed_.NotifyAll();
  }

  const OnCommand on_command_;
  const v1::SessionInfo info_;
  const FirstWord first_word_;
  std::unique_ptr<grpc::Server> server_;
  mutable Mutex mutex_;
  mutable CondVar changed_;
  std::vector<ReceivedCommand> received_ ABSL_GUARDED_BY(mutex_);
  int64_t groups_ ABSL_GUARDED_BY(mutex_) = 0;
};

namespace {

void DescribeOutput(const std::string& name, v1::Tensor& output) {
  output.set_name(name);
  output.set_dtype(v1::DATA_TYPE_FLOAT32);
  output.add_shape(0);
}

// Results of the kind that the command has, with as little in them as there can be.
void AddResults(const v1::Command& command, v1::Answer& answer) {
  if (command.has_query_event()) answer.mutable_event();
  if (command.has_query_stream()) answer.mutable_stream();
  if (command.has_query_elapsed_time()) answer.mutable_elapsed_time();
  if (command.has_query_memory()) answer.mutable_memory();
  if (command.has_execute()) DescribeOutput("out", *answer.mutable_outputs()->add_outputs());
  if (!command.has_create_executor()) return;
  v1::ExecutorInfo& plan = *answer.mutable_executor();
  for (const v1::Tensor& asked : command.create_executor().call().outputs()) {
    v1::Tensor& output = *plan.add_outputs();
    output.set_name(asked.name());
    output.set_dtype(asked.dtype());
    *output.mutable_shape() = asked.shape();
  }
  if (plan.outputs().empty()) DescribeOutput("out", *plan.add_outputs());
}

}  // namespace

int AnswerAll(const ReceivedCommand& command, const SendAnswer& send) {
  v1::Answer answer = AnswerTo(command);
  AddResults(command.message, answer);
  if (!command.message.quiet()) send(answer);
  return 0;
}

v1::Answer AnswerTo(const ReceivedCommand& command) {
  v1::Answer answer;
  answer.set_id(command.message.id());
  return answer;
}

v1::Answer BadBetaOf(const ReceivedCommand& command) {
  google::rpc::ErrorInfo info;
  info.set_reason("INVALID_PARAMETER");
  info.set_domain("opserve.dev");
  (*info.mutable_metadata())["operator"] = "Op";
  (*info.mutable_metadata())["parameter"] = "beta";
  (*info.mutable_metadata())["want"] = ">= 0";
  (*info.mutable_metadata())["got"] = "-1";
  v1::Answer answer = AnswerTo(command);
  google::rpc::Status& details = *answer.mutable_error();
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

std::vector<ReceivedCommand> FakeSessionServer::received() const { return service_->received(); }

int64_t FakeSessionServer::groups() const { return service_->groups(); }

std::vector<ReceivedCommand> FakeSessionServer::received(v1::Command::CommandCase kind) const {
  std::vector<ReceivedCommand> matching;
  for (ReceivedCommand& command : service_->received()) {
    if (command.message.command_case() == kind) matching.push_back(std::move(command));
  }
  return matching;
}

void FakeSessionServer::WaitUntil(
    const std::function<bool(const std::vector<ReceivedCommand>&)>& done) const {
  service_->WaitUntil(done);
}

Session Open(const FakeSessionServer& server, SessionOptions options) {
  absl::StatusOr<Session> session =
      Client::Connect(server.target())->OpenSession(std::move(options));
  if (!session.ok()) ADD_FAILURE() << session.status();
  return *std::move(session);
}

}  // namespace opserve::client
