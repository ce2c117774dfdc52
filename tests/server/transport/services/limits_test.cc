// Bounds: message size, memory, time; and stopping.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/server/requests.h"
#include "tests/server/test_server.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

class SmallMessagesTest : public ServerTest {
 protected:
  SmallMessagesTest() { config_.max_message_bytes = 64 << 10; }

  // A gradient of `elements` f32 elements from inputs of one.
  static v1::ExecuteRequest Broadcast(int64_t elements) {
    v1::ExecuteRequest request;
    request.mutable_call()->set_op("SmoothL1LossBackward");
    AddInput(request, "grad_out", v1::DATA_TYPE_FLOAT32, {}, {1});
    AddInput(request, "self", v1::DATA_TYPE_FLOAT32, {elements}, {3}).add_strides(0);
    AddInput(request, "target", v1::DATA_TYPE_FLOAT32, {}, {1});
    AddInt(*request.mutable_call(), "reduction", 2);
    AddFloat(*request.mutable_call(), "beta", 1);
    return request;
  }
};

TEST_F(SmallMessagesTest, RequestAboveTheLimit) {
  v1::ExecuteRequest request = SampleRequest();
  request.add_raw(std::string(64 << 10, 'x'));
  EXPECT_EQ(tcp().Execute(request).code, "RESOURCE_EXHAUSTED");
  ExpectAliveAndEmpty();
}

TEST_F(SmallMessagesTest, AnswerAboveTheLimitIsRefusedBeforeItIsComputed) {
  v1::ExecuteRequest request = Broadcast(16 << 10);
  auto answer = tcp().Execute(request);
  EXPECT_EQ(answer.code, "RESOURCE_EXHAUSTED");
  EXPECT_EQ(answer.info.reason(), "RESOURCE_LIMIT");
  EXPECT_EQ(answer.parameter(), "max_message_bytes") << answer.message;

  request = Broadcast(8 << 10);  // fits as bytes, not as doubles
  EXPECT_THAT(tcp().Execute(request), IsOk());
  request.set_output_encoding(v1::TENSOR_ENCODING_VALUES);
  answer = tcp().Execute(request);
  EXPECT_EQ(answer.code, "RESOURCE_EXHAUSTED");
  EXPECT_EQ(answer.parameter(), "max_message_bytes") << answer.message;
}

TEST_F(SmallMessagesTest, LargestAnswerThatFitsIsServed) {
  // 64 KiB less the framing: the answer's other bytes are 2 + name 12 + dtype 2 + shape 5 + raw
  // index 2 + raw's 4.
  const auto answer = tcp().Execute(Broadcast((64 << 10) / 4 - 8));
  EXPECT_THAT(answer, IsOk());
  EXPECT_LE(answer.response.ByteSizeLong(), size_t{64} << 10);
}

class SmallMemoryTest : public ServerTest {
 protected:
  SmallMemoryTest() { config_.memory_limit_bytes = 1 << 20; }
};

TEST_F(SmallMemoryTest, CallsBeyondItAreRefused) {
  v1::ExecuteRequest request;
  request.mutable_call()->set_op("SmoothL1LossBackward");
  const std::vector<double> elements(1 << 18, 1);
  for (const char* name : {"grad_out", "self", "target"})
    AddInput(request, name, v1::DATA_TYPE_FLOAT32, {1 << 18}, elements);
  AddInt(*request.mutable_call(), "reduction", 0);
  const auto answer = tcp().Execute(request);
  EXPECT_EQ(answer.code, "RESOURCE_EXHAUSTED") << answer.message;
  EXPECT_EQ(answer.info.reason(), "RESOURCE_LIMIT") << answer.message;
  ExpectAliveAndEmpty();
}

class LittleHostMemoryTest : public ServerTest {
 protected:
  LittleHostMemoryTest() { config_.clients.host_memory_limit_bytes = 1 << 20; }
};

TEST_F(LittleHostMemoryTest, LongHeadersBeyondItAreRefused) {
  v1::ExecuteRequest request = SampleRequest();
  for (int round = 0; round < 20; ++round) {
    request.mutable_call()->set_op(std::string(100 << 10, 'x'));
    EXPECT_EQ(tcp().Execute(request).code, "NOT_FOUND");
  }
  request.mutable_call()->set_op(std::string(1 << 20, 'x'));
  const auto answer = tcp().Execute(request);
  EXPECT_EQ(answer.code, "RESOURCE_EXHAUSTED") << answer.message;
  EXPECT_EQ(answer.parameter(), "message") << answer.message;
  v1::ListOperatorsRequest list;
  list.add_names(std::string(1 << 20, 'x'));
  EXPECT_EQ(tcp().ListOperators(list).code, "RESOURCE_EXHAUSTED");
  ExpectAliveAndEmpty();
}

TEST_F(LittleHostMemoryTest, BatchesThatTakeMoreAreRefused) {
  v1::ExecuteBatchRequest batch;
  for (int i = 0; i < 500; ++i) AddToBatch(batch, SampleRequest());
  for (int round = 0; round < 20; ++round) EXPECT_THAT(tcp().ExecuteBatch(batch), IsOk());
  for (int i = 0; i < 3500; ++i) batch.add_calls();
  const auto answer = tcp().ExecuteBatch(batch);
  EXPECT_EQ(answer.code, "RESOURCE_EXHAUSTED") << answer.message;
  EXPECT_EQ(answer.parameter(), "message") << answer.message;
  ExpectAliveAndEmpty();
}

class LifeTest : public ServerTest {};

TEST_F(LifeTest, ExpiredDeadline) {
  EXPECT_EQ(tcp().Execute(SampleRequest(), -absl::Seconds(1)).code, "DEADLINE_EXCEEDED");
  ExpectAliveAndEmpty();
}

TEST_F(LifeTest, ShutdownRefusesRemovesTheSocketAndMayBeRepeated) {
  ExpectAliveAndEmpty();
  server().Shutdown(absl::Seconds(30));
  EXPECT_EQ(tcp().Execute(SampleRequest()).code, "UNAVAILABLE");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "socket"));
  server().Shutdown(absl::Seconds(30));
}

TEST_F(LifeTest, TakenAddressesAreNamed) {
  for (const std::string& address : server().addresses()) {
    server::ServerConfig config = config_;
    config.listen = {address};
    const absl::Status status = server::Server::Start(config).status();
    EXPECT_NE(std::string(status.message()).find(address), std::string::npos) << status;
  }
  ExpectAliveAndEmpty();
  EXPECT_THAT(unix_socket().Execute(SampleRequest()), IsOk());
}

TEST_F(LifeTest, AFileAtASocketsPathIsLeftAlone) {
  const std::filesystem::path path = folder_ / "file";
  std::ofstream(path) << "precious";
  server::ServerConfig config = config_;
  config.listen = {"unix:" + path.string()};
  EXPECT_FALSE(server::Server::Start(config).ok());
  EXPECT_TRUE(std::filesystem::is_regular_file(path));
}

TEST_F(LifeTest, PortFileThatCannotBeWrittenIsNamed) {
  server::ServerConfig config = config_;
  config.listen = {"localhost:0"};
  config.port_file = (folder_ / "no" / "file").string();
  const absl::Status status = server::Server::Start(config).status();
  EXPECT_NE(std::string(status.message()).find("--port-file"), std::string::npos) << status;
}

}  // namespace
}  // namespace opserve::testing
