#include "tests/server/session_client.h"

#include <array>
#include <deque>

#include <google/protobuf/text_format.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include "tests/server/outcome.h"

namespace opserve::testing {
namespace {

enum Tag : uint8_t { kStart, kWrite, kRead, kHalfClose, kFinish };

void* TagOf(Tag tag) {
  static std::array<char, kFinish + 1> tags;
  return &tags[tag];
}

}  // namespace

struct SessionClient::State {
  State(const std::string& address, absl::Duration timeout)
      : channel(OwnChannel(address)), stub(channel) {
    SetTimeout(context, timeout);
    call = stub.PrepareCall(&context, "/opserve.v1.SessionService/Session", &queue);
    call->StartCall(TagOf(kStart));
    Wait(kStart);
  }

  ~State() {
    context.TryCancel();
    call.reset();
    queue.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue.Next(&tag, &ok)) {
    }
  }

  // Whether that operation succeeded.
  bool Wait(Tag tag) {
    void* got = nullptr;
    bool ok = false;
    while (queue.Next(&got, &ok)) {
      if (got == TagOf(tag)) return ok;
    }
    return false;
  }

  void KeepEntry(uint32_t index) {
    EXPECT_LT(index, static_cast<uint32_t>(message.raw_size()));
    if (index < static_cast<uint32_t>(message.raw_size()))
      raw.push_back(message.raw(static_cast<int>(index)));
  }

  std::shared_ptr<grpc::Channel> channel;
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  grpc::GenericStub stub;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call;
  uint64_t last_id = 0;
  v1::SessionResponse message;     // that was read last
  int messages = 0;                // that were read
  std::deque<v1::Answer> answers;  // of it, that Receive has not given yet
  std::vector<std::string> raw;
};

SessionClient::SessionClient(const std::string& address, absl::Duration timeout)
    : state_(std::make_unique<State>(address, timeout)) {}

SessionClient::~SessionClient() = default;

uint64_t SessionClient::last_id() const { return state_->last_id; }

void SessionClient::StartSending(const std::string& message) {
  state_->call->Write(BufferOf(message), TagOf(kWrite));
}

bool SessionClient::SendBytes(const std::string& message) {
  StartSending(message);
  return state_->Wait(kWrite);
}

bool SessionClient::Send(v1::Command command, const std::vector<std::string>& raw) {
  if (command.id() == 0) command.set_id(state_->last_id + 1);
  state_->last_id = command.id();
  v1::SessionRequest message;
  *message.add_commands() = std::move(command);
  for (const std::string& entry : raw) message.add_raw(entry);
  return SendBytes(message.SerializeAsString());
}

bool SessionClient::Send(std::string_view command, const std::vector<std::string>& raw) {
  v1::Command request;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(std::string(command), &request))
      << command;
  return Send(std::move(request), raw);
}

std::optional<v1::Answer> SessionClient::Receive() {
  while (state_->answers.empty()) {
    grpc::ByteBuffer buffer;
    state_->call->Read(&buffer, TagOf(kRead));
    if (!state_->Wait(kRead)) return std::nullopt;
    EXPECT_TRUE(state_->message.ParseFromString(BytesOfBuffer(buffer)));
    ++state_->messages;
    for (v1::Answer& answer : *state_->message.mutable_answers())
      state_->answers.push_back(std::move(answer));
  }
  v1::Answer answer = std::move(state_->answers.front());
  state_->answers.pop_front();
  state_->raw.clear();
  if (answer.has_chunk()) state_->KeepEntry(answer.chunk().raw_index());
  for (const v1::Tensor& tensor : answer.outputs().outputs())
    if (tensor.has_raw_index()) state_->KeepEntry(tensor.raw_index());
  return answer;
}

int SessionClient::messages() const { return state_->messages; }

const std::vector<std::string>& SessionClient::raw() const { return state_->raw; }

v1::Answer SessionClient::Await(uint64_t id) {
  while (std::optional<v1::Answer> response = Receive()) {
    if (response->id() == id && !response->more()) return *std::move(response);
  }
  ADD_FAILURE() << "the session ended before command " << id << " was answered";
  return {};
}

v1::Answer SessionClient::Do(std::string_view command, const std::vector<std::string>& raw) {
  EXPECT_TRUE(Send(command, raw)) << command;
  v1::Answer response = Await(last_id());
  EXPECT_FALSE(response.has_error()) << command << ": " << response.error().message();
  return response;
}

void SessionClient::HalfClose() {
  state_->call->WritesDone(TagOf(kHalfClose));
  state_->Wait(kHalfClose);
}

void SessionClient::Cancel() { state_->context.TryCancel(); }

Outcome SessionClient::End() {
  while (Receive().has_value()) {
  }
  grpc::Status status;
  state_->call->Finish(&status, TagOf(kFinish));
  state_->Wait(kFinish);
  Outcome outcome;
  Describe(status, outcome);
  return outcome;
}

void SessionClient::Vanish() { state_.reset(); }

}  // namespace opserve::testing
