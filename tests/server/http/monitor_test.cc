// What a whole server answers by HTTP.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/http/http_client.h"
#include "tests/server/requests.h"
#include "tests/server/test_server.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class MonitorTest : public ServerTest {
 protected:
  MonitorTest() { config_.http = "127.0.0.1:0"; }
  HttpAnswer Ask(std::string_view request, std::string_view headers = {}) {
    return HttpAsk(PortOfAddress(server().http_address()), request, headers);
  }
};

TEST_F(MonitorTest, IsAliveAndReady) {
  EXPECT_EQ(Ask("GET /livez").body, "alive\n");
  const HttpAnswer ready = Ask("GET /readyz");
  EXPECT_EQ(ready.status, 200);
  EXPECT_EQ(ready.body, "ready\n");
}

TEST_F(MonitorTest, SaysWhyItIsNotReady) {
  server().AnnounceStop();
  const HttpAnswer ready = Ask("GET /readyz");
  EXPECT_EQ(ready.status, 503);
  EXPECT_THAT(ready.body, HasSubstr("not ready: the server is about to stop"));
  EXPECT_EQ(Ask("GET /livez").status, 200);
  EXPECT_EQ(tcp().Health(""), "NOT_SERVING");
}

TEST_F(MonitorTest, MetricsHaveTheCallsThatWereMade) {
  ASSERT_THAT(tcp().Execute(SampleRequest()), IsOk());
  ASSERT_THAT(tcp().Execute(SampleRequest()), IsOk());
  const HttpAnswer metrics = Ask("GET /metrics");
  EXPECT_THAT(metrics.head,
              HasSubstr("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  EXPECT_THAT(metrics.body, HasSubstr("opserve_rpcs_total{method=\"Execute\",code=\"OK\"} 2\n"));
  const std::string op = SampleRequest().call().op();
  EXPECT_THAT(metrics.body,
              HasSubstr("opserve_calls_total{operator=\"" + op + "\",code=\"OK\"} 2\n"));
  EXPECT_THAT(metrics.body,
              HasSubstr("opserve_call_execution_seconds_count{operator=\"" + op + "\"} 2\n"));
  EXPECT_THAT(metrics.body, HasSubstr("opserve_plan_cache_lookups_total{result=\"hit\"} 1\n"));
}

class LittleMemoryMonitorTest : public MonitorTest {
 protected:
  LittleMemoryMonitorTest() {
    config_.memory_limit_bytes = 1 << 20;
    config_.clients.host_memory_limit_bytes = 1 << 20;
  }
};

TEST_F(LittleMemoryMonitorTest, MetricsAndPageCountWhatWasRefused) {
  const std::string device = "opserve_device_memory_refused_total{device=\"cpu:0\"} ";
  EXPECT_THAT(Ask("GET /metrics").body, HasSubstr(device + "0\n"));
  EXPECT_THAT(Ask("GET /metrics").body, HasSubstr("opserve_host_memory_refused_total 0\n"));
  v1::ExecuteRequest request;
  request.mutable_call()->set_op("Relu");
  AddInput(request, "self", v1::DATA_TYPE_FLOAT32, {1 << 19}, std::vector<double>(1 << 19, 1));
  EXPECT_EQ(tcp().Execute(request).code, "RESOURCE_EXHAUSTED");
  request = SampleRequest();
  request.mutable_call()->set_op(std::string(1 << 20, 'x'));
  EXPECT_EQ(tcp().Execute(request).code, "RESOURCE_EXHAUSTED");
  EXPECT_THAT(Ask("GET /metrics").body, HasSubstr(device + "1\n"));
  EXPECT_THAT(Ask("GET /metrics").body, HasSubstr("opserve_host_memory_refused_total 1\n"));
  EXPECT_THAT(Ask("GET /").body, HasSubstr("memory of cpu:0"));
}

TEST_F(MonitorTest, MetricsAreOpenMetricsForWhoAsks) {
  const HttpAnswer metrics =
      Ask("GET /metrics", "Accept: text/plain;q=0.5\r\nAccept: application/openmetrics-text\r\n");
  EXPECT_THAT(
      metrics.head,
      HasSubstr("Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"));
  EXPECT_THAT(metrics.body, HasSubstr("# TYPE opserve_rpcs counter\n"));
  EXPECT_THAT(metrics.body, ::testing::EndsWith("\n# EOF\n"));
}

// What clients send must not become a series, nor markup.
TEST_F(MonitorTest, NamesThatClientsChooseAreTextOfErrorsOnly) {
  v1::ExecuteRequest request = SampleRequest();
  request.mutable_call()->set_op("<script>alert(1)</script>");
  ASSERT_EQ(tcp().Execute(request).code, "NOT_FOUND");
  EXPECT_THAT(Ask("GET /metrics").body, Not(HasSubstr("alert")));
  const HttpAnswer page = Ask("GET /");
  EXPECT_THAT(page.head, HasSubstr("Content-Type: text/html; charset=utf-8\r\n"));
  EXPECT_THAT(page.body, HasSubstr("&lt;script&gt;alert(1)"));
  EXPECT_THAT(page.body, Not(HasSubstr("<script")));
}

TEST_F(MonitorTest, ThePageLoadsItselfAnewUnlessToldNotTo) {
  EXPECT_THAT(Ask("GET /").body, HasSubstr("http-equiv=\"refresh\""));
  EXPECT_THAT(Ask("GET /?refresh=0").body, Not(HasSubstr("http-equiv")));
}

// Only that page runs a script, and only this port's.
TEST_F(MonitorTest, ThePlaygroundRunsItsOwnScriptOnly) {
  EXPECT_THAT(Ask("GET /").head, Not(HasSubstr("script-src")));
  const HttpAnswer page = Ask("GET /playground?op=Hardshrink&a.lambd=1");
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.head, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page.head, HasSubstr("script-src 'self'; connect-src 'self'\r\n"));
  EXPECT_THAT(page.body, HasSubstr("gradient of self"));
  EXPECT_THAT(Ask("GET /playground.js").head, HasSubstr("Content-Type: text/javascript"));
}

TEST_F(MonitorTest, WhatThePlaygroundRunsIsCounted) {
  ASSERT_EQ(Ask("GET /playground?op=Hardshrink").status, 200);
  EXPECT_THAT(Ask("GET /metrics").body,
              HasSubstr("opserve_calls_total{operator=\"HardshrinkBackward\",code=\"OK\"} 1\n"));
}

TEST_F(MonitorTest, AnswersNothingAfterTheEnd) {
  const uint16_t port = PortOfAddress(server().http_address());
  server().Shutdown(absl::ZeroDuration());
  EXPECT_EQ(HttpAsk(port, "GET /livez").status, 0);
}

using NoMonitorTest = ServerTest;

TEST_F(NoMonitorTest, IsOffUnlessAskedFor) { EXPECT_EQ(server().http_address(), ""); }

}  // namespace
}  // namespace opserve::testing
