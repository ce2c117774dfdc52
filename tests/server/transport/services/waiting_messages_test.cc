// Messages of sessions whose commands wait for room or for a worker: all of their bytes are charged
// meanwhile.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/server/requests.h"
#include "tests/server/session_client.h"
#include "tests/server/test_server.h"

namespace opserve::testing {
namespace {

class WaitingMessageTest : public ServerTest {
 protected:
  WaitingMessageTest() {
    config_.clients.host_memory_limit_bytes = int64_t{64} << 20;
    config_.clients.share = 1;
    config_.session.window_bytes = int64_t{1} << 20;
  }

  const std::string& address() { return server().addresses()[0]; }

  // A product whose bytes fill the window while it is computed, and behind it, in the same message,
  // a call of so many elements.
  static std::string MessageThatWaits(uint64_t id, int64_t elements) {
    v1::SessionRequest message;
    AddCall(message, id, "Matmul", {{"self", {1024, 1024}}, {"mat2", {1024, 1024}}});
    AddFloat(*AddCall(message, id + 1, "Hardshrink", {{"self", {elements}}}), "lambd", 0.5);
    return message.SerializeAsString();
  }

  using Inputs = std::vector<std::pair<std::string, std::vector<int64_t>>>;

  static v1::Call* AddCall(v1::SessionRequest& message, uint64_t id, const std::string& op,
                           const Inputs& inputs) {
    v1::Command& command = *message.add_commands();
    command.set_id(id);
    v1::Call& call = *command.mutable_execute()->mutable_call();
    call.set_op(op);
    for (const auto& [name, shape] : inputs) {
      v1::Tensor& input = *call.add_inputs();
      input.set_name(name);
      input.set_dtype(v1::DATA_TYPE_FLOAT32);
      size_t bytes = sizeof(float);
      for (const int64_t extent : shape) {
        input.add_shape(extent);
        bytes *= static_cast<size_t>(extent);
      }
      input.set_raw_index(static_cast<uint32_t>(message.raw_size()));
      message.add_raw(std::string(bytes, '\0'));
    }
    return &call;
  }
};

TEST_F(WaitingMessageTest, IsCharged) {
  SessionClient client(address());
  ASSERT_TRUE(client.Receive().has_value());
  for (uint64_t id = 1; id < 7; id += 2) {  // 18 MiB, three times
    client.SendBytes(MessageThatWaits(id, int64_t{10} << 18));
    for (int answers = 0; answers < 2; ++answers) {
      const std::optional<v1::Answer> answer = client.Receive();
      ASSERT_TRUE(answer.has_value());
      EXPECT_FALSE(answer->has_error()) << answer->error().message();
    }
  }
  client.SendBytes(MessageThatWaits(7, int64_t{64} << 18));
  while (client.Receive().has_value()) {
  }
  const Outcome outcome = client.End();
  EXPECT_EQ(outcome.code, "RESOURCE_EXHAUSTED") << outcome.message;
  EXPECT_EQ(outcome.parameter(), "message");
}

TEST_F(WaitingMessageTest, WaitsForMemoryThatAnotherSessionOfTheClientHas) {
  config_.clients.host_memory_limit_bytes = int64_t{4} << 20;
  SessionClient idle(address());
  SessionClient busy(address());
  ASSERT_TRUE(idle.Receive().has_value());
  ASSERT_TRUE(busy.Receive().has_value());
  v1::SessionRequest message;
  AddFloat(*AddCall(message, 1, "Hardshrink", {{"self", {int64_t{10} << 18}}}), "lambd", 0.5);
  busy.SendBytes(message.SerializeAsString());
  while (used_bytes() == 0) {
  }
  idle.Send("query_memory { context: 1 }");
  EXPECT_TRUE(busy.Receive().has_value());
  EXPECT_EQ(idle.Await(idle.last_id()).id(), idle.last_id());
}

TEST_F(WaitingMessageTest, AlsoForAWorker) {
  SessionClient client(address());
  ASSERT_TRUE(client.Receive().has_value());
  v1::SessionRequest message;
  for (int i = 0; i < 12'000; ++i) message.add_commands()->mutable_query_memory()->set_context(1);
  message.add_raw(std::string(size_t{65} << 20, '\0'));
  client.SendBytes(message.SerializeAsString());
  const Outcome outcome = client.End();
  EXPECT_EQ(outcome.code, "RESOURCE_EXHAUSTED") << outcome.message;
  EXPECT_EQ(outcome.parameter(), "message");
}

}  // namespace
}  // namespace opserve::testing
