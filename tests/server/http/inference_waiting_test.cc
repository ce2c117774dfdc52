// Calls by HTTP that wait: for a worker, for the rest of their body, for their client.
#include <string>
#include <thread>
#include <vector>

#include "tests/server/held_worker.h"
#include "tests/server/http/inference_api_harness.h"

namespace opserve::server {
namespace {

using ::opserve::testing::HeldWorker;
using ::opserve::testing::HttpAnswer;
using ::opserve::testing::HttpConnection;
using ::testing::HasSubstr;

constexpr char kInputs[] =
    R"({"inputs":[{"name":"self","shape":[3],"datatype":"FP32","data":[-1,0,2.5]}]})";

class WaitingInferenceTest : public InferenceApiTest {
 protected:
  static std::string Large(std::string_view parameters = "") {
    std::string json = absl::StrCat(
        R"({"inputs":[{"name":"self","shape":[1048576],"datatype":"FP32","parameters":)",
        R"({"binary_data_size":4194304}}],"parameters":{"binary_data_output":true)",
        std::string(parameters), "}}");
    const size_t size = json.size();
    json.append(4194304, '\0');
    return Post(kRelu, json, absl::StrCat("Inference-Header-Content-Length: ", size, "\r\n"));
  }
  // Whatever happened to its connections before, it has seen then.
  void LetThePortLookAround() {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(Get("/v2/health/live").status, 200);
  }

  HeldWorker held_{engine_->devices()[0]->workers()};
};

TEST_F(WaitingInferenceTest, ACallWhoseClientLeftIsOver) {
  Start();
  {
    HttpConnection connection(tcp_port_);
    ASSERT_TRUE(connection.Send(Large()));
    AwaitBegun(1);
  }
  LetThePortLookAround();
  held_.Release();
  AwaitEnded(absl::StatusCode::kCancelled, 1);
}

TEST_F(WaitingInferenceTest, ATimeoutEndsACall) {
  Start();
  HttpConnection connection(tcp_port_);
  ASSERT_TRUE(connection.Send(Large(",\"timeout\":1000")));
  AwaitBegun(1);
  const absl::Time late = Clock::Real().Now() + absl::Milliseconds(5);
  while (Clock::Real().Now() < late) LetThePortLookAround();
  held_.Release();
  EXPECT_EQ(connection.ReadAnswer().status, 504);
}

TEST_F(WaitingInferenceTest, ProbesAreAnsweredWhileAllPlacesAreTaken) {
  Start({.max_connections = 4, .allowed_origin = {}, .why_not = {}}, {.max_connections = 4});
  std::vector<std::unique_ptr<HttpConnection>> connections;
  for (int i = 0; i < 3; ++i) {
    connections.push_back(std::make_unique<HttpConnection>(tcp_port_));
    ASSERT_TRUE(connections.back()->Send(Large()));
  }
  AwaitBegun(3);
  const HttpAnswer answer = Infer(kInputs);
  EXPECT_EQ(answer.status, 429);
  EXPECT_THAT(answer.head, HasSubstr("Retry-After: 1\r\n"));
  EXPECT_EQ(Get("/v2/health/live").status, 200);
  held_.Release();
  for (const auto& connection : connections) EXPECT_EQ(connection->ReadAnswer().status, 200);
}

TEST_F(WaitingInferenceTest, TheEndOfThePortEndsCalls) {
  Start();
  HttpConnection connection(tcp_port_);
  ASSERT_TRUE(connection.Send(Large()));
  AwaitBegun(1);
  api_->Drain(absl::Milliseconds(10));
  held_.Release();
  port_.reset();
  AwaitEnded(absl::StatusCode::kCancelled, 1);
}

TEST_F(WaitingInferenceTest, ADrainWaitsUntilAnswersAreTaken) {
  Start();
  HttpConnection connection(tcp_port_);
  ASSERT_TRUE(connection.Send(Large()));
  AwaitBegun(1);
  std::thread end([this] {
    api_->Drain(absl::Minutes(1));
    port_.reset();
  });
  held_.Release();
  const HttpAnswer answer = connection.ReadAnswer();
  EXPECT_EQ(answer.status, 200);
  EXPECT_GT(answer.body.size(), size_t{4} << 20);
  end.join();
}

TEST_F(InferenceApiTest, LengthensTheTimeOfABodyOfUnknownLengthAsItComes) {
  clock_ = &fake_clock_;
  Start();
  constexpr size_t kPiece = size_t{4} << 20;
  const std::string head = absl::StrCat("POST ", kRelu,
                                        " HTTP/1.1\r\nHost: localhost\r\n"
                                        "Transfer-Encoding: chunked\r\n\r\n");
  const std::string piece = absl::StrCat("400000\r\n", std::string(kPiece, ' '), "\r\n");
  HttpConnection slow(tcp_port_);
  HttpConnection left(tcp_port_);
  ASSERT_TRUE(slow.Send(head + piece));
  ASSERT_TRUE(left.Send(head + piece));
  while (host_memory_.used_bytes() < static_cast<int64_t>(2 * kPiece)) std::this_thread::yield();
  fake_clock_.Advance(absl::Seconds(12));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Get("/v2/health/live").status, 200);
  ASSERT_TRUE(slow.Send(absl::StrCat("1\r\n{\r\n0\r\n\r\n")));
  EXPECT_EQ(slow.ReadAnswer().status, 400);
  fake_clock_.Advance(absl::Seconds(3));
  EXPECT_EQ(left.ReadAnswer().status, 0) << "no bytes for 15 seconds";
}

}  // namespace
}  // namespace opserve::server
