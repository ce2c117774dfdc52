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
#include "tests/server/http/inference_api_harness.h"

namespace opserve::server {
namespace {

using ::opserve::testing::HttpAnswer;
using ::opserve::testing::HttpConnection;
using ::opserve::testing::IsOk;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// One that is short, and its answer.
constexpr char kSmall[] =
    R"({"id":"a","inputs":[{"name":"self","shape":[3],"datatype":"FP32","data":[-1,0,2.5]}]})";
constexpr char kSmallAnswer[] =
    R"({"model_name":"Relu","model_version":"1","id":"a","outputs":[{"name":"out",)"
    R"("datatype":"FP32","shape":[3],"data":[0,0,2.5]}]})";

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
TEST_F(InferenceApiTest, ListsOfAllModelsAreForEachClientSoManyASecond) {
  Start({.max_connections = 16, .allowed_origin = {}, .why_not = {}},
        {.heavy_per_second = 0.001, .heavy_burst = 2});
  EXPECT_EQ(Get("/v2/models/stats").status, 200);
  EXPECT_EQ(Get("/v2/repository/index").status, 200);
  const HttpAnswer refused = Get("/v2/models/stats");
  EXPECT_EQ(refused.status, 429);
  EXPECT_THAT(refused.head, HasSubstr("Retry-After: 1\r\n"));
  EXPECT_EQ(Get("/v2/models/Relu/stats").status, 200);
  EXPECT_EQ(Get("/v2/health/ready").status, 200);
}

TEST_F(InferenceApiTest, AModelWithoutANameIsNone) {
  Start();
  for (const char* path :
       {"/v2/models//ready", "/v2/models//config", "/v2/models//versions/1/ready"})
    EXPECT_EQ(Get(path).status, 404) << path;
  EXPECT_EQ(Get("/v2/health/live").status, 200);
}

}  // namespace
}  // namespace opserve::server
