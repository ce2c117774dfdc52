// The HTTP port beside clients that mean well, and others.
#include "server/http/port/http_port.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/server/http/http_client.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace opserve::server {
namespace {

using ::opserve::testing::FakeClock;
using ::opserve::testing::HttpAnswer;
using ::opserve::testing::HttpAsk;
using ::opserve::testing::HttpConnection;
using ::opserve::testing::IsOk;
using ::opserve::testing::PortOfAddress;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kOther[] = "127.0.0.2";
constexpr char kGet[] = "GET /light HTTP/1.1\r\nHost: localhost\r\n\r\n";

class HttpPortTest : public ::testing::Test {
 protected:
  void Start(HttpLimits limits = {}, const std::string& address = "127.0.0.1:0") {
    absl::StatusOr<Listening> listening = Listen(address, 0600, "--http");
    ASSERT_THAT(listening, IsOk());
    tcp_port_ = PortOfAddress(listening->address);
    limits.core_burst = absl::Hours(1);  // the clock does not move and would give none back
    std::vector<HttpRoute> routes;
    routes.push_back({.path = "/light",
                      .weight = HttpRoute::Weight::kLight,
                      .answer = [](const HttpRequest&) { return HttpResponse{.body = "light"}; }});
    routes.push_back({.path = "/heavy", .answer = [](const HttpRequest&) {
                        return HttpResponse{.content_type = "text/html", .body = "heavy"};
                      }});
    routes.push_back({.path = "/large", .answer = [](const HttpRequest&) {
                        return HttpResponse{.body = std::string(size_t{16} << 20, 'x')};
                      }});
    routes.push_back({.path = "/echo", .answer = [](const HttpRequest& request) {
                        return HttpResponse{.body = std::string(request.Argument("a"))};
                      }});
    auto port = HttpPort::Start(std::move(listening->listeners), std::move(routes), nullptr, limits,
                                /*api=*/nullptr, clock_);
    ASSERT_THAT(port, IsOk());
    port_ = *std::move(port);
  }

  HttpAnswer Ask(std::string_view request, std::string_view headers = {},
                 const char* source = "127.0.0.1") const {
    return HttpAsk(tcp_port_, request, headers, source);
  }
  void ExpectAlive() const { EXPECT_EQ(Ask("GET /light").body, "light"); }

  FakeClock clock_;
  uint16_t tcp_port_ = 0;
  std::unique_ptr<HttpPort> port_;
};

TEST_F(HttpPortTest, AnswersWhatIsInItsTable) {
  Start();
  const HttpAnswer answer = Ask("GET /heavy");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "heavy");
  EXPECT_THAT(answer.head, HasSubstr("Content-Type: text/html\r\n"));
  EXPECT_EQ(Ask("GET /").status, 404);
  EXPECT_EQ(Ask("GET /heavy/").status, 404);
  EXPECT_EQ(Ask("GET /heavy?refresh=1").status, 200);
}

TEST_F(HttpPortTest, DecodesArguments) {
  Start();
  EXPECT_EQ(Ask("GET /echo?b=1&a=%3Cx%3E+y&a=2").body, "<x> y");
  EXPECT_EQ(Ask("GET /echo?a").body, "");
  EXPECT_EQ(Ask("GET /echo?b=1").body, "");
  // More than there is memory for.
  EXPECT_NE(Ask("GET /echo?" + std::string(5000, '&')).status, 200);
  ExpectAlive();
}

TEST_F(HttpPortTest, TellsBrowsersToLoadAndRunNothing) {
  Start();
  const std::string head = Ask("GET /light").head;
  EXPECT_THAT(head, HasSubstr("Content-Security-Policy: default-src 'none';"));
  EXPECT_THAT(head, HasSubstr("X-Content-Type-Options: nosniff\r\n"));
  EXPECT_THAT(head, HasSubstr("Cache-Control: no-store\r\n"));
}

TEST_F(HttpPortTest, AnswersHeadWithoutABody) {
  Start();
  HttpConnection connection(tcp_port_);
  connection.Send("HEAD /heavy HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(connection.ReadAnswerToHead().head, HasSubstr("Content-Length: 5\r\n"));
  connection.Send(kGet);
  EXPECT_EQ(connection.ReadAnswer().body, "light");
}

TEST_F(HttpPortTest, KeepsAConnectionForMoreRequests) {
  Start();
  HttpConnection connection(tcp_port_);
  connection.Send(std::string(kGet) + kGet);
  EXPECT_EQ(connection.ReadAnswer().body, "light");
  EXPECT_EQ(connection.ReadAnswer().body, "light");
}

TEST_F(HttpPortTest, TakesNoOtherMethodAndNoBody) {
  Start();
  for (const char* request : {"POST /light", "PUT /light", "DELETE /light", "TRACE /light"}) {
    const HttpAnswer answer = Ask(request);
    EXPECT_EQ(answer.status, 405) << request;
    EXPECT_THAT(answer.head, HasSubstr("Allow: GET, HEAD\r\n"));
  }
  EXPECT_EQ(Ask("POST /light", "Content-Length: 100000000\r\n").status, 405);
  EXPECT_EQ(Ask("GET /light", "Content-Length: 100000000\r\n").status, 413);
  EXPECT_EQ(Ask("GET /light", "Transfer-Encoding: chunked\r\n").status, 413);
  for (const char* path : {"/light", "/nowhere"}) {
    HttpConnection connection(tcp_port_);
    connection.Send("GET " + std::string(path) +
                    " HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding:\r\n\r\nx");
    EXPECT_EQ(connection.ReadAnswer().status, 413) << path;
  }
  ExpectAlive();
}

// A web page whose name points to 127.0.0.1 would have a browser read the port for it.
TEST_F(HttpPortTest, OnLoopbackAnswersToThisMachinesNamesOnly) {
  Start();
  const auto ask = [this](std::string_view host) {
    HttpConnection connection(tcp_port_);
    connection.Send("GET /light HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n");
    return connection.ReadAnswer().status;
  };
  for (const char* host : {"localhost", "LOCALHOST:80", "127.0.0.1:1", "[::1]:1", "10.1.2.3"})
    EXPECT_EQ(ask(host), 200) << host;
  for (const char* host : {"evil.example", "localhost.evil.example:80", "[evil]", "[::1", "1.2.3"})
    EXPECT_EQ(ask(host), 421) << host;
}

TEST_F(HttpPortTest, BeyondLoopbackAnswersToAnyName) {
  Start({}, "0.0.0.0:0");
  HttpConnection connection(tcp_port_);
  connection.Send("GET /light HTTP/1.1\r\nHost: server.example\r\n\r\n");
  EXPECT_EQ(connection.ReadAnswer().status, 200);
}

TEST_F(HttpPortTest, BoundsHowOftenAClientAsksForMuch) {
  Start({.heavy_per_second = 1, .heavy_burst = 2});
  EXPECT_EQ(Ask("GET /heavy").status, 200);
  EXPECT_EQ(Ask("GET /heavy").status, 200);
  const HttpAnswer refused = Ask("GET /heavy");
  EXPECT_EQ(refused.status, 429);
  EXPECT_THAT(refused.head, HasSubstr("Retry-After: 1\r\n"));
  ExpectAlive();
  EXPECT_EQ(Ask("GET /heavy", {}, kOther).status, 200);
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(Ask("GET /heavy").status, 200);
}

TEST_F(HttpPortTest, RefusesHeadersWithoutAnEnd) {
  Start();
  HttpConnection connection(tcp_port_);
  connection.Send("GET /light HTTP/1.1\r\nHost: localhost\r\n");
  for (int i = 0; i < 100'000; ++i) {
    if (!connection.Send("X-Header: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n"))
      break;
  }
  EXPECT_TRUE(connection.IsEnded());
  HttpConnection long_line(tcp_port_);
  long_line.Send("GET /" + std::string(100'000, 'a'));
  EXPECT_THAT(long_line.ReadAll(), Not(HasSubstr("200 OK")));
  ExpectAlive();
}

TEST_F(HttpPortTest, OutlivesBytesThatAreNoRequest) {
  Start();
  const std::vector<std::string> bytes = {
      std::string("\0\0\0\0", 4),
      "\r\n\r\n\r\n",
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
      "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
      "GET\r\n\r\n",
      "GET /light HTTP/9.9\r\n\r\n",
      "GET /light HTTP/1.1\r\n\r\n",
      "GET /%00%ff%zz%2e%2e/light HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "GET /light HTTP/1.1\r\nHost: a\r\nHost: b\r\nContent-Length: -1\r\n\r\n",
      std::string(5000, '\xff') + "\r\n\r\n",
  };
  for (const std::string& each : bytes) {
    HttpConnection connection(tcp_port_);
    connection.Send(each);
    ExpectAlive();
  }
}

TEST_F(HttpPortTest, ConnectionsWithoutARequestKeepNobodyOut) {
  Start({.max_connections = 4});
  std::vector<std::unique_ptr<HttpConnection>> slow;
  for (int i = 0; i < 40; ++i) {
    slow.push_back(std::make_unique<HttpConnection>(tcp_port_));
    slow.back()->Send("GET /light HTTP/1.1\r\nHo");
  }
  EXPECT_EQ(Ask("GET /light", {}, kOther).body, "light");
  ExpectAlive();
  EXPECT_TRUE(slow.front()->IsEnded());
}

TEST_F(HttpPortTest, TheClientThatHasMostMakesRoom) {
  Start({.max_connections = 4});
  HttpConnection other(tcp_port_, kOther);
  other.Send(kGet);
  EXPECT_EQ(other.ReadAnswer().body, "light");
  std::vector<std::unique_ptr<HttpConnection>> many;
  for (int i = 0; i < 40; ++i) {
    many.push_back(std::make_unique<HttpConnection>(tcp_port_));
    many.back()->Send("G");
  }
  ExpectAlive();
  other.Send(kGet);
  EXPECT_EQ(other.ReadAnswer().body, "light");
}

TEST_F(HttpPortTest, CutsARequestThatTakesTooLong) {
  Start();
  HttpConnection slow(tcp_port_);
  slow.Send("GET /light HTTP/1.1\r\n");
  ExpectAlive();  // by now it was accepted
  clock_.Advance(absl::Seconds(9));
  slow.Send("Host: localhost\r\n");
  ExpectAlive();
  clock_.Advance(absl::Seconds(2));
  EXPECT_TRUE(slow.IsEnded());
}

TEST_F(HttpPortTest, CutsWhoDoesNotTakeTheAnswer) {
  Start();
  HttpConnection slow(tcp_port_);
  slow.Send("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
  ExpectAlive();
  clock_.Advance(absl::Seconds(11));
  EXPECT_TRUE(slow.IsEnded());
  ExpectAlive();
}

TEST_F(HttpPortTest, OutlivesClientsThatLeave) {
  Start();
  for (int i = 0; i < 200; ++i) {
    const HttpConnection connection(tcp_port_);
    if (i % 2 == 0) connection.Send("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  ExpectAlive();
}

TEST_F(HttpPortTest, EndsWithConnectionsOpen) {
  Start();
  HttpConnection connection(tcp_port_);
  connection.Send(kGet);
  EXPECT_EQ(connection.ReadAnswer().body, "light");
  port_.reset();
  EXPECT_TRUE(connection.IsEnded());
}

}  // namespace
}  // namespace opserve::server
