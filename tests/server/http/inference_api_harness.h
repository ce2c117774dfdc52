// The Open Inference Protocol on an HTTP port, by an engine without a server around it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/http/inference/inference_api.h"
#include "server/http/port/http_port.h"
#include "tests/server/http/http_client.h"
#include "tests/support/fake_clock.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::server {

inline constexpr char kRelu[] = "/v2/models/Relu/infer";

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
    ASSERT_THAT(listening, ::opserve::testing::IsOk());
    tcp_port_ = ::opserve::testing::PortOfAddress(listening->address);
    limits.core_share = 1;  // as fast as the tests ask
    auto port =
        HttpPort::Start(std::move(listening->listeners), {}, nullptr, limits, api_.get(), *clock_);
    ASSERT_THAT(port, ::opserve::testing::IsOk());
    port_ = *std::move(port);
  }

  static std::string Post(std::string_view path, std::string_view body,
                          std::string_view headers = {}) {
    return absl::StrCat("POST ", std::string(path), " HTTP/1.1\r\nHost: localhost\r\n",
                        std::string(headers), "Content-Length: ", body.size(), "\r\n\r\n",
                        std::string(body));
  }
  ::opserve::testing::HttpAnswer Infer(std::string_view body, std::string_view headers = {},
                                       std::string_view path = kRelu) {
    ::opserve::testing::HttpConnection connection(tcp_port_);
    connection.Send(Post(path, body, headers));
    return connection.ReadAnswer();
  }
  ::opserve::testing::HttpAnswer Get(std::string_view path) {
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

  ::opserve::testing::FakeClock fake_clock_;
  const Clock* clock_ = &Clock::Real();  // the port's
  const std::unique_ptr<Engine> engine_ = ::opserve::testing::MakeEngine(1);
  ServerCounters counters_;
  CallObserver observer_;
  PlanCache plans_;
  HostMemory host_memory_{64 << 20, 1, Clock::Real()};
  uint16_t tcp_port_ = 0;
  std::unique_ptr<InferenceApi> api_;
  std::unique_ptr<HttpPort> port_;
};

}  // namespace opserve::server
