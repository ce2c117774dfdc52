// The Session RPC of a real server: how it ends, what ends it, and that nothing is left.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "absl/time/clock.h"
#include "tests/server/requests.h"
#include "tests/server/session_client.h"
#include "tests/server/test_server.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

constexpr const char* kHardshrink =
    "call { op: 'Hardshrink' attributes { name: 'lambd' float_value: 0 } inputs { name: "
    "'self' dtype: DATA_TYPE_FLOAT32 shape: 4 buffer { buffer: 1 } } }";

class SessionServiceTest : public ServerTest {
 protected:
  const std::string& address() { return server().addresses()[0]; }

  // Context 1 with stream 1 and a buffer 1 of this size.
  static void MakeBuffer(SessionClient& client, int64_t bytes) {
    client.Do("create_context { context: 1 }");
    client.Do("create_stream { stream: 1 context: 1 }");
    client.Do("allocate { buffer: 1 context: 1 size_bytes: " + std::to_string(bytes) + " }");
  }

  // Until the pools have lent nothing, as ListDevices tells it.
  void AwaitEmpty() {
    const absl::Time end = Clock::Real().Now() + absl::Seconds(60);
    while (Clock::Real().Now() < end) {
      const auto answer = tcp().ListDevices();
      ASSERT_THAT(answer, IsOk());
      if (answer.response.devices(0).memory().used_bytes() == 0) return;
    }
    FAIL() << used_bytes() << " bytes are lent after a minute";
  }
};

TEST_F(SessionServiceTest, HalfCloseWaitsForTheAnswers) {
  for (const std::string& at : server().addresses()) {
    SessionClient client(at);
    const std::optional<v1::Answer> first = client.Receive();
    ASSERT_TRUE(first.has_value());
    EXPECT_GT(first->info().window_bytes(), 0);
    MakeBuffer(client, 16);
    const std::string bytes = BytesOf(v1::DATA_TYPE_FLOAT32, {1, -2, 3, -4});
    client.Send("quiet: true upload { destination { buffer: 1 } stream: 1 }", {bytes});
    client.Send(std::string("create_executor { executor: 1 context: 1 ") + kHardshrink + " }");
    client.Send("run_executor { executor: 1 stream: 1 }");
    client.HalfClose();
    std::string came;
    while (const std::optional<v1::Answer> answer = client.Receive()) {
      EXPECT_FALSE(answer->has_error()) << answer->error().message();
      if (!client.raw().empty()) came += client.raw()[0];
    }
    EXPECT_EQ(came, bytes);
    EXPECT_EQ(client.End().code, "OK");
    AwaitEmpty();
  }
}

TEST_F(SessionServiceTest, AnEmptySession) {
  SessionClient client(address());
  client.HalfClose();
  EXPECT_EQ(client.End().code, "OK");
}

TEST_F(SessionServiceTest, LargeTransfers) {
  SessionClient client(address());
  constexpr size_t kSize = size_t{40} << 20;  // more than the window
  MakeBuffer(client, kSize);
  std::string bytes(kSize, '\0');
  for (size_t i = 0; i < kSize; ++i) bytes[i] = static_cast<char>(i * 2654435761U >> 24);
  client.Do("upload { destination { buffer: 1 } stream: 1 }", {bytes});
  client.Send("download { source { buffer: 1 row_bytes: " + std::to_string(kSize) +
              " } stream: 1 }");
  std::string came;
  while (const std::optional<v1::Answer> answer = client.Receive()) {
    if (!client.raw().empty()) came += client.raw()[0];
    if (answer->id() == client.last_id() && !answer->more()) break;
  }
  EXPECT_TRUE(came == bytes);
}

TEST_F(SessionServiceTest, Cancelled) {
  SessionClient client(address());
  MakeBuffer(client, 1 << 20);
  client.Cancel();
  EXPECT_EQ(client.End().code, "CANCELLED");
  AwaitEmpty();
}

TEST_F(SessionServiceTest, TheClientsDeadline) {
  SessionClient client(address(), absl::Seconds(3));
  MakeBuffer(client, 1 << 20);
  EXPECT_EQ(client.End().code, "DEADLINE_EXCEEDED");
  AwaitEmpty();
}

TEST_F(SessionServiceTest, TheConnectionBreaks) {
  SessionClient client(address());
  MakeBuffer(client, 1 << 20);
  EXPECT_GT(used_bytes(), 0);
  client.Vanish();
  AwaitEmpty();
}

TEST_F(SessionServiceTest, WhatIsNoRequestEndsIt) {
  struct Bad {
    std::string message;
    const char* parameter;
    const char* code;
  };
  const std::string with_id = "\x08\x01";
  for (const Bad& bad :
       {Bad{"\xff\xff\xff\xff\xff\xff", "message", "161002"},
        Bad{"\x0a\x04" + with_id + "\x1a\x7f", "message", "161002"},
        Bad{"\x0a\x02" + with_id, "command", "161001"},
        Bad{std::string("\x0a\x02\x1a\x00", 4), "id", "161002"}, Bad{with_id, "commands", "161001"},
        Bad{"", "commands", "161001"}, Bad{std::string("\x7a\x01x"), "commands", "161001"}}) {
    SessionClient client(address());
    client.SendBytes(bad.message);
    const Outcome outcome = client.End();
    EXPECT_EQ(outcome.code, "INVALID_ARGUMENT") << outcome.message;
    EXPECT_EQ(outcome.parameter(), bad.parameter) << outcome.message;
    EXPECT_EQ(outcome.aclnn_code(), bad.code) << outcome.message;
  }
}

TEST_F(SessionServiceTest, CommandsInOneMessage) {
  SessionClient client(address());
  EXPECT_TRUE(client.Receive()->has_info());
  v1::SessionRequest message;
  const std::vector<std::vector<double>> inputs = {{1, -2, 3, -4}, {5, 6, 7, 8}, {}};
  for (size_t i = 0; i < inputs.size(); ++i) {
    v1::Command& command = *message.add_commands();
    command.set_id(i + 1);
    v1::Call& call = *command.mutable_execute()->mutable_call();
    call.set_op("Hardshrink");
    AddFloat(call, "lambd", 0.5);
    v1::Tensor& self = *call.add_inputs();
    self.set_name("self");
    self.set_dtype(v1::DATA_TYPE_FLOAT32);
    self.add_shape(4);
    self.set_raw_index(static_cast<uint32_t>(i));
    message.add_raw(BytesOf(v1::DATA_TYPE_FLOAT32, inputs[i]));
  }
  client.SendBytes(message.SerializeAsString());
  std::map<uint64_t, std::vector<std::string>> results;
  std::map<uint64_t, v1::Answer> answers;
  while (answers.size() < inputs.size()) {
    const std::optional<v1::Answer> answer = client.Receive();
    ASSERT_TRUE(answer.has_value());
    answers[answer->id()] = *answer;
    results[answer->id()] = client.raw();
  }
  EXPECT_THAT(results[1], ::testing::ElementsAre(message.raw(0)));
  EXPECT_THAT(results[2], ::testing::ElementsAre(message.raw(1)));
  EXPECT_TRUE(answers[3].has_error());  // no bytes
  client.HalfClose();
  EXPECT_EQ(client.End().code, "OK");
  AwaitEmpty();
}

// Clients that wait for answers send their next commands when these come: small groups would remain
// small. The commands take many turns on a worker, between which nothing is sent.
TEST_F(SessionServiceTest, AnswersToOneMessageComeInFewMessages) {
  SessionClient client(address());
  MakeBuffer(client, 16);
  const int before = client.messages();
  constexpr uint64_t kCommands = 10'000;
  v1::SessionRequest message;
  for (uint64_t i = 1; i <= kCommands; ++i) {
    v1::Command& command = *message.add_commands();
    command.set_id(client.last_id() + i);
    command.mutable_query_stream()->set_stream(1);
  }
  client.SendBytes(message.SerializeAsString());
  EXPECT_TRUE(client.Await(client.last_id() + kCommands).has_stream());
  // 64 KiB of host memory each, that is up to 250 answers.
  EXPECT_LE(client.messages() - before, 100);
}

TEST_F(SessionServiceTest, IdsOutOfOrderEndIt) {
  SessionClient client(address());
  MakeBuffer(client, 1 << 20);
  client.Send("id: 2 create_event { event: 1 context: 1 }");
  const Outcome outcome = client.End();
  EXPECT_EQ(outcome.code, "INVALID_ARGUMENT");
  EXPECT_EQ(outcome.parameter(), "id");
  EXPECT_EQ(outcome.message, "id: want more than 3, the command's before, got 2");
  AwaitEmpty();
}

TEST_F(SessionServiceTest, AHeaderThatIsTooLarge) {
  SessionClient client(address());
  v1::Command command;
  command.mutable_create_executor()->mutable_call()->set_op(std::string(5 << 20, 'x'));
  client.Send(command);
  const Outcome outcome = client.End();
  EXPECT_EQ(outcome.code, "RESOURCE_EXHAUSTED");
  EXPECT_EQ(outcome.parameter(), "message") << outcome.message;
}

TEST_F(SessionServiceTest, AFailureIsAnAnswer) {
  SessionClient client(address());
  client.Send("create_context { context: 1 device: 'cpu:9' }");
  const v1::Answer answer = client.Await(1);
  google::rpc::ErrorInfo info;
  ASSERT_EQ(answer.error().details_size(), 1);
  EXPECT_EQ(answer.error().details(0).type_url(), "type.googleapis.com/google.rpc.ErrorInfo");
  ASSERT_TRUE(info.ParseFromString(answer.error().details(0).value()));
  EXPECT_EQ(info.reason(), "DEVICE_NOT_FOUND");
  EXPECT_EQ(info.domain(), "opserve.dev");
  client.Do("create_context { context: 1 }");
}

class FewSessionsTest : public SessionServiceTest {
 protected:
  FewSessionsTest() {
    config_.max_sessions = 2;
    config_.clients.share = 1;
  }
};

TEST_F(FewSessionsTest, OneMoreIsRefused) {
  SessionClient one(address());
  auto two = std::make_unique<SessionClient>(address());
  ASSERT_TRUE(one.Receive().has_value());
  ASSERT_TRUE(two->Receive().has_value());
  Outcome outcome = SessionClient(address()).End();
  EXPECT_EQ(outcome.code, "RESOURCE_EXHAUSTED");
  EXPECT_EQ(outcome.info.reason(), "RESOURCE_LIMIT");
  EXPECT_EQ(outcome.parameter(), "session");
  two.reset();
  while (true) {  // until the server saw it go
    SessionClient again(address());
    if (again.Receive().has_value()) break;
    ASSERT_EQ(again.End().code, "RESOURCE_EXHAUSTED");
  }
  one.Do("create_context { context: 1 }");
}

class StallTest : public SessionServiceTest {
 protected:
  StallTest() {
    config_.session.stall_timeout = absl::Milliseconds(200);
    config_.max_sessions = 1;
  }
};

TEST_F(StallTest, AClientThatNeverReadsIsCut) {
  SessionClient client(address());
  MakeBuffer(client, 32 << 20);
  client.Send("download { source { buffer: 1 row_bytes: 33554432 } stream: 1 }");
  AwaitEmpty();
  const Outcome outcome = client.End();
  EXPECT_EQ(outcome.code, "DEADLINE_EXCEEDED") << outcome.message;
}

// The status of a session that failed waits behind answers that nobody reads.
TEST_F(StallTest, SoIsOneWhoseSessionFailed) {
  SessionClient client(address());
  client.Send("create_context { context: 1 }");
  client.Send("create_stream { stream: 1 context: 1 }");
  client.Send("allocate { buffer: 1 context: 1 size_bytes: 33554432 }");
  client.Send("download { source { buffer: 1 row_bytes: 33554432 } stream: 1 }");
  for (int i = 0; i < 50; ++i) ASSERT_THAT(tcp().ListDevices(), IsOk());  // the answers get stuck
  client.Send("id: 1 create_context { context: 2 }");
  while (true) {  // there is room for one session only
    SessionClient other(address());
    if (other.Receive().has_value()) break;
  }
  AwaitEmpty();
}

// An answer takes some rounds of the connection, which is slow where the machine is.
class PaceTest : public StallTest {
 protected:
  PaceTest() { config_.session.stall_timeout = absl::Seconds(1); }
};

TEST_F(PaceTest, AClientThatReadsAtItsPaceIsNotCut) {
  SessionClient client(address());
  MakeBuffer(client, 1 << 20);
  const absl::Time end = Clock::Real().Now() + absl::Milliseconds(2500);
  while (Clock::Real().Now() < end)
    client.Do("download { source { buffer: 1 row_bytes: 1048576 } stream: 1 }");
  client.HalfClose();
  EXPECT_EQ(client.End().code, "OK");
}

TEST_F(StallTest, NorIsOneThatIsIdle) {
  SessionClient client(address());
  ASSERT_TRUE(client.Receive().has_value());
  const absl::Time end = Clock::Real().Now() + absl::Milliseconds(500);
  while (Clock::Real().Now() < end) ASSERT_THAT(tcp().GetServerInfo(), IsOk());
  client.Do("create_context { context: 1 }");
}

class SessionDrainTest : public SessionServiceTest {
 protected:
  // Shuts the server down while the test goes on.
  void StartDraining() {
    draining_ = std::thread([this] { server().Shutdown(absl::Seconds(60)); });
  }
  void TearDown() override {
    if (draining_.joinable()) draining_.join();
  }

 private:
  std::thread draining_;
};

TEST_F(SessionDrainTest, ANoticeThenUnavailable) {
  SessionClient client(address());
  MakeBuffer(client, 1 << 20);
  StartDraining();
  const std::optional<v1::Answer> notice = client.Receive();
  ASSERT_TRUE(notice.has_value());
  EXPECT_EQ(notice->id(), 0u);
  EXPECT_TRUE(notice->has_draining());
  const Outcome outcome = client.End();
  EXPECT_EQ(outcome.code, "UNAVAILABLE");
  EXPECT_EQ(outcome.info.reason(), "DRAINING");
}

TEST_F(SessionDrainTest, WhatIsUnderWayIsFinished) {
  SessionClient client(address());
  ASSERT_TRUE(client.Receive().has_value());
  client.Send(
      "execute_chunked { call { op: 'Hardshrink' attributes { name: 'lambd' float_value: 0 } "
      "inputs { name: 'self' dtype: DATA_TYPE_FLOAT32 shape: 4 chunked {} } } }");
  ASSERT_TRUE(client.Receive()->has_outputs());
  StartDraining();
  ASSERT_TRUE(client.Receive()->has_draining());
  client.Send("input_chunk { command: 1 input: 'self' }",
              {BytesOf(v1::DATA_TYPE_FLOAT32, {1, 2, 3, 4})});
  EXPECT_FALSE(client.Await(1).has_error());
  EXPECT_EQ(client.End().code, "UNAVAILABLE");
}

// Of a chain of steps that take long to plan, for inputs of so many elements.
v1::Command LongProgram(uint64_t id, int64_t elements) {
  v1::Command command;
  command.set_id(id);
  v1::Call& call = *command.mutable_execute()->mutable_call();
  v1::Tensor& input = *call.add_inputs();
  input.set_name("x");
  input.set_dtype(v1::DATA_TYPE_FLOAT32);
  input.add_shape(elements);
  std::string before = "x";
  for (int i = 0; i < 1200; ++i) {
    v1::Step& step = *call.mutable_program()->add_steps();
    step.set_name("s" + std::to_string(i));
    step.set_op("Relu");
    v1::Tensor& self = *step.add_inputs();
    self.set_name("self");
    self.set_value(before);
    before = step.name();
  }
  v1::ProgramOutput& output = *call.mutable_program()->add_outputs();
  output.set_name("y");
  output.set_value(before);
  return command;
}

// The worker that plans is not of the RPC, which may be over before it; sanitizers tell if what the
// worker uses is over, too.
TEST(SessionEndTest, TheServerEndsWhileAWorkerPlans) {
  v1::SessionRequest message;  // too large to be read by gRPC's thread
  for (uint64_t i = 1; i <= 4; ++i) {
    v1::Command& command = *message.add_commands() = LongProgram(i, static_cast<int64_t>(i));
    command.mutable_execute()->mutable_call()->mutable_inputs(0)->set_raw_index(
        static_cast<uint32_t>(i - 1));
    message.add_raw(std::string(i * sizeof(float), '\0'));
  }
  for (int i = 0; i < 8; ++i) {
    TestServer running;
    running.Start();
    SessionClient client(running.server().addresses()[0]);
    ASSERT_TRUE(client.Receive().has_value());
    ASSERT_TRUE(client.SendBytes(message.SerializeAsString()));
    absl::SleepFor(absl::Milliseconds(5 * i));
    running.Stop();
  }
}

}  // namespace
}  // namespace opserve::testing
