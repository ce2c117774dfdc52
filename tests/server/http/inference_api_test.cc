// The Open Inference Protocol on an HTTP port, byte for byte, by an engine without a server around
// it.
#include "server/http/inference/inference_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/http/port/http_port.h"
#include "tests/server/held_worker.h"
#include "tests/server/http/http_client.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::server {
namespace {

using ::opserve::testing::HeldWorker;
using ::opserve::testing::HttpAnswer;
using ::opserve::testing::HttpConnection;
using ::opserve::testing::IsOk;
using ::opserve::testing::MakeEngine;
using ::opserve::testing::PortOfAddress;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kRelu[] = "/v2/models/Relu/infer";

// One that is short, and its answer.
constexpr char kSmall[] =
    R"({"id":"a","inputs":[{"name":"self","shape":[3],"datatype":"FP32","data":[-1,0,2.5]}]})";
constexpr char kSmallAnswer[] =
    R"({"model_name":"Relu","model_version":"1","id":"a","outputs":[{"name":"out",)"
    R"("datatype":"FP32","shape":[3],"data":[0,0,2.5]}]})";

class InferenceApiTest : public ::testing::Test {
 protected:
  void Start(InferenceApiOptions options = {.max_connections = 16,
                                            .allowed_origin = {},
                                            .why_not = {}},
             HttpLimits limits = {}, int64_t max_message_bytes = 16 << 20) {
    api_ = MakeInferenceApi({.engine = *engine_,
                             .counters = counters_,
                             .observer = observer_,
                             .plans = plans_,
                             .host_memory = host_memory_,
                             .named_regions = nullptr,
                             .tokens = nullptr,
                             .max_message_bytes = max_message_bytes,
                             .client_share = 1},
                            std::move(options));
    absl::StatusOr<Listening> listening = Listen("127.0.0.1:0", 0600, "--http");
    ASSERT_THAT(listening, IsOk());
    tcp_port_ = PortOfAddress(listening->address);
    limits.core_share = 1;  // as fast as the tests ask
    auto port = HttpPort::Start(std::move(listening->listeners), {}, nullptr, limits, api_.get());
    ASSERT_THAT(port, IsOk());
    port_ = *std::move(port);
  }

  static std::string Post(std::string_view path, std::string_view body,
                          std::string_view headers = {}) {
    return absl::StrCat("POST ", std::string(path), " HTTP/1.1\r\nHost: localhost\r\n",
                        std::string(headers), "Content-Length: ", body.size(), "\r\n\r\n",
                        std::string(body));
  }
  HttpAnswer Infer(std::string_view body, std::string_view headers = {},
                   std::string_view path = kRelu) {
    HttpConnection connection(tcp_port_);
    connection.Send(Post(path, body, headers));
    return connection.ReadAnswer();
  }
  HttpAnswer Get(std::string_view path) {
    return ::opserve::testing::HttpAsk(tcp_port_, absl::StrCat("GET ", std::string(path)));
  }
  int64_t Ended(absl::StatusCode code) {
    return counters_.Sum()
        .methods[static_cast<size_t>(Method::kModelInfer)]
        .ended[static_cast<size_t>(code)];
  }
  void AwaitEnded(absl::StatusCode code, int64_t count) {
    while (Ended(code) < count) std::this_thread::yield();
    EXPECT_EQ(Ended(code), count);
  }

  void AwaitBegun(int64_t count) {
    while (counters_.Sum().methods[static_cast<size_t>(Method::kModelInfer)].begun < count)
      std::this_thread::yield();
  }
  // The answer may be there before the request's end is noted.
  void AwaitNothingCharged() {
    while (host_memory_.used_bytes() > 0) std::this_thread::yield();
  }

  const std::unique_ptr<Engine> engine_ = MakeEngine(1);
  ServerCounters counters_;
  CallObserver observer_;
  PlanCache plans_;
  HostMemory host_memory_{64 << 20, 1, Clock::Real()};
  uint16_t tcp_port_ = 0;
  std::unique_ptr<InferenceApi> api_;
  std::unique_ptr<HttpPort> port_;
};

TEST_F(InferenceApiTest, Json) {
  Start();
  const HttpAnswer answer = Infer(kSmall);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, kSmallAnswer);
  EXPECT_THAT(answer.head, HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(answer.head, Not(HasSubstr("Inference-Header-Content-Length")));
  EXPECT_EQ(Infer(kSmall, "", "/v2/models/Relu/versions/1/infer").body, kSmallAnswer);
  EXPECT_EQ(plans_.stats().hits + plans_.stats().misses, 2);
}

TEST_F(InferenceApiTest, BinaryData) {
  Start();
  const std::string json =
      R"({"parameters":{"binary_data_output":true},"inputs":[{"name":"self","shape":[2],)"
      R"("datatype":"FP32","parameters":{"binary_data_size":8}}]})";
  const float elements[] = {-1, 2};
  const std::string bytes(reinterpret_cast<const char*>(elements), sizeof(elements));
  const HttpAnswer answer =
      Infer(json + bytes, absl::StrCat("Inference-Header-Content-Length: ", json.size(), "\r\n"));
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_THAT(answer.head, HasSubstr("Content-Type: application/octet-stream\r\n"));
  const std::string expected =
      R"({"model_name":"Relu","model_version":"1","outputs":[{"name":"out","datatype":"FP32",)"
      R"("shape":[2],"parameters":{"binary_data_size":8}}]})";
  EXPECT_THAT(answer.head, HasSubstr(absl::StrCat(
                               "Inference-Header-Content-Length: ", expected.size(), "\r\n")));
  const float outputs[] = {0, 2};
  EXPECT_EQ(answer.body,
            expected + std::string(reinterpret_cast<const char*>(outputs), sizeof(outputs)));
}

TEST_F(InferenceApiTest, ManyRequestsOnOneConnectionAlsoInPieces) {
  Start();
  HttpConnection connection(tcp_port_);
  const std::string request = Post(kRelu, kSmall);
  for (int i = 0; i < 3; ++i) {
    for (const char byte : request) ASSERT_TRUE(connection.Send({&byte, 1}));
    EXPECT_EQ(connection.ReadAnswer().body, kSmallAnswer);
  }
  // Two at once, one behind the other; and one in HTTP's chunks.
  ASSERT_TRUE(connection.Send(request + request));
  EXPECT_EQ(connection.ReadAnswer().body, kSmallAnswer);
  EXPECT_EQ(connection.ReadAnswer().body, kSmallAnswer);
  const std::string_view body = kSmall;
  ASSERT_TRUE(connection.Send(absl::StrCat(
      "POST ", kRelu, " HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n",
      absl::Hex(9), "\r\n", std::string(body.substr(0, 9)), "\r\n", absl::Hex(body.size() - 9),
      "\r\n", std::string(body.substr(9)), "\r\n0\r\n\r\n")));
  EXPECT_EQ(connection.ReadAnswer().body, kSmallAnswer);
}

TEST_F(InferenceApiTest, LargeOnesRunOnWorkers) {
  Start();
  constexpr size_t kElements = 20'000;
  std::string data = "1";
  for (size_t i = 1; i < kElements; ++i) data.append(",1");
  const HttpAnswer answer =
      Infer(absl::StrCat(R"({"inputs":[{"name":"self","datatype":"FP32","shape":[)", kElements,
                         "],\"data\":[", data, "]}]}"));
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_THAT(answer.body, HasSubstr("\"data\":[" + data + "]"));
  AwaitNothingCharged();
}

TEST_F(InferenceApiTest, ErrorsAreObjectsWithAText) {
  Start();
  HttpAnswer answer = Infer("{\"inputs\":[]}", "", "/v2/models/Rellu/infer");
  EXPECT_EQ(answer.status, 404);
  EXPECT_THAT(answer.body, StartsWith("{\"error\":\""));
  EXPECT_THAT(answer.body, HasSubstr("Relu"));
  EXPECT_EQ(Infer("{\"inputs\":[]}").status, 400);
  EXPECT_EQ(Infer("{").status, 400);
  EXPECT_EQ(Infer("").status, 400);
  EXPECT_EQ(Infer(kSmall, "", "/v2/models/Relu/versions/2/infer").status, 404);
  EXPECT_EQ(Infer(kSmall, "Inference-Header-Content-Length: x\r\n").status, 400);
  EXPECT_EQ(Infer(kSmall, "Inference-Header-Content-Length: 1000\r\n").status, 400);
  EXPECT_EQ(Infer(kSmall, "", "/v2/nothing").status, 404);
  EXPECT_EQ(Get("/v2/models/Relu/generate").status, 501);
  answer = Get(kRelu);
  EXPECT_EQ(answer.status, 405);
  EXPECT_THAT(answer.head, HasSubstr("Allow: POST\r\n"));
  EXPECT_EQ(Infer(kSmall, "Content-Encoding: identity\r\n").status, 200);
  answer = Infer("\x1f\x8b", "Content-Encoding: gzip\r\n");
  EXPECT_EQ(answer.status, 415);
  EXPECT_THAT(answer.body, HasSubstr("not compressed, got \\\"gzip\\\""));
  EXPECT_EQ(Infer(kSmall).status, 200);
}

TEST_F(InferenceApiTest, WhatTheServerKnows) {
  Start();
  EXPECT_EQ(Get("/v2/health/live").body, "{\"live\":true}");
  EXPECT_EQ(Get("/v2/health/ready").body, "{\"ready\":true}");
  EXPECT_THAT(Get("/v2").body, HasSubstr("\"name\":\"opserve\""));
  EXPECT_THAT(Get("/v2/models/Relu").body, HasSubstr("\"versions\":[\"1\"]"));
  EXPECT_EQ(Get("/v2/models/Relu/ready").body, "{\"name\":\"Relu\",\"ready\":true}");
  EXPECT_EQ(Get("/v2/models/x/ready").status, 404);
  EXPECT_THAT(Get("/v2/models/Relu/config").body, HasSubstr("\"max_batch_size\":0"));
  EXPECT_THAT(Get("/v2/models/Relu/stats").body, HasSubstr("\"queue\":{\"count\":0,\"ns\":0}"));
  EXPECT_THAT(Get("/v2/repository/index").body, StartsWith("[{\"name\":\""));
  EXPECT_EQ(Infer("{\"ready\":true}", "", "/v2/repository/index").status, 200);
  EXPECT_EQ(Infer("{\"x\":true}", "", "/v2/repository/index").status, 400);
  EXPECT_EQ(Infer(std::string(size_t{65} << 10, ' '), "", "/v2/repository/index").status, 413);
  api_->SetNotReady();
  EXPECT_EQ(Get("/v2/health/ready").status, 503);
  EXPECT_EQ(Get("/v2/health/ready").body, "{\"ready\":false}");
  EXPECT_EQ(Get("/v2/models/Relu/ready").status, 503);
  EXPECT_EQ(Infer(kSmall).status, 200);
  api_->RefuseCalls();
  EXPECT_EQ(Infer(kSmall).status, 503);
}

TEST_F(InferenceApiTest, BodiesAreBounded) {
  Start({.max_connections = 16, .allowed_origin = {}, .why_not = {}}, {}, 4096);
  for (const std::string& request :
       {absl::StrCat("POST ", kRelu), std::string("GET /v2/health/live")}) {
    HttpConnection connection(tcp_port_);
    ASSERT_TRUE(connection.Send(absl::StrCat(
        request, " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 18446744073709551615\r\n\r\n")));
    EXPECT_EQ(connection.ReadAnswer().status, 413) << request;
  }
  HttpConnection chunked(tcp_port_);
  ASSERT_TRUE(chunked.Send(absl::StrCat(
      "POST ", kRelu, " HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1001\r\n",
      std::string(0x1001, ' '), "\r\n0\r\n\r\n")));
  EXPECT_EQ(chunked.ReadAnswer().status, 413);
  // An answer that no message holds is refused before it is made.
  const HttpAnswer answer =
      Infer(R"({"inputs":[{"name":"self","shape":[400],"datatype":"FP32","data":[)" + [] {
        std::string ones = "1";
        for (int i = 1; i < 400; ++i) ones.append(",1");
        return ones;
      }() + "]}]}");
  EXPECT_EQ(answer.status, 429);
  EXPECT_THAT(answer.body, HasSubstr("max_message_bytes"));
  AwaitNothingCharged();
}

TEST_F(InferenceApiTest, HostMemoryIsBounded) {
  ASSERT_THAT(host_memory_.Take(ClientId::kNone, 64 << 20, "test"), IsOk());
  Start();
  EXPECT_EQ(Infer(kSmall).status, 429);
  host_memory_.Return(ClientId::kNone, 64 << 20);
  EXPECT_EQ(Infer(kSmall).status, 200);
}

TEST_F(InferenceApiTest, PagesOfOthersMayNotCall) {
  Start();
  EXPECT_EQ(Infer(kSmall, "Origin: http://evil.example\r\n").status, 403);
  EXPECT_EQ(Infer(kSmall, "Origin: http://localhost\r\n").status, 200);
  EXPECT_EQ(Infer(kSmall, "Origin: null\r\n").status, 403);
  const HttpAnswer asked = ::opserve::testing::HttpAsk(tcp_port_, absl::StrCat("OPTIONS ", kRelu),
                                                       "Origin: http://evil.example\r\n");
  EXPECT_EQ(asked.status, 204);
  EXPECT_THAT(asked.head, Not(HasSubstr("Access-Control")));
}

TEST_F(InferenceApiTest, PagesThatAFlagNamesMayCall) {
  Start({.max_connections = 16, .allowed_origin = "https://example.org", .why_not = {}});
  HttpAnswer answer = Infer(kSmall, "Origin: https://example.org\r\n");
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.head, HasSubstr("Access-Control-Allow-Origin: https://example.org\r\n"));
  EXPECT_THAT(answer.head, HasSubstr("Vary: Origin\r\n"));
  answer = Infer("{", "Origin: https://example.org\r\n");
  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(answer.head, HasSubstr("Access-Control-Allow-Origin"));
  EXPECT_EQ(Infer(kSmall, "Origin: https://example.com\r\n").status, 403);
  const HttpAnswer asked = ::opserve::testing::HttpAsk(tcp_port_, absl::StrCat("OPTIONS ", kRelu),
                                                       "Origin: https://example.org\r\n");
  EXPECT_THAT(asked.head, HasSubstr("Access-Control-Allow-Headers: Authorization, Content-Type"));
}

TEST_F(InferenceApiTest, NothingIsComputedWhereItMustNotBe) {
  Start({.max_connections = 16, .allowed_origin = {}, .why_not = "--insecure"});
  const HttpAnswer answer = Infer(kSmall);
  EXPECT_EQ(answer.status, 403);
  EXPECT_THAT(answer.body, HasSubstr("--insecure"));
  EXPECT_EQ(Ended(absl::StatusCode::kPermissionDenied), 1);
}

// Calls that wait until a test says so.
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
  const HttpAnswer answer = Infer(kSmall);
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

}  // namespace
}  // namespace opserve::server
