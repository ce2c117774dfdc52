// HTTP by hand: what is sent is the test's, byte for byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/unique_fd.h"

namespace opserve::testing {

struct HttpAnswer {
  int status = 0;  // 0: the connection ended without an answer
  std::string head;
  std::string body;
};

class HttpConnection {
 public:
  // To that port on 127.0.0.1, from `source`, another address of this machine's loopback network.
  explicit HttpConnection(uint16_t port, const char* source = "127.0.0.1");

  bool is_open() const { return socket_.is_open(); }
  // False once the other side has ended the connection.
  bool Send(std::string_view bytes) const;
  // What comes until the other side ends the connection, or for ten seconds.
  std::string ReadAll();
  // One answer, as far as its Content-Length says; to HEAD, which has no body.
  HttpAnswer ReadAnswer();
  HttpAnswer ReadAnswerToHead();
  // Whether the other side ends the connection within ten seconds.
  bool IsEnded() const;

 private:
  bool ReadMore();

  UniqueFd socket_;
  std::string read_;
};

// Of a request by itself: "GET /livez" and more header lines, each with its "\r\n".
HttpAnswer HttpAsk(uint16_t port, std::string_view request, std::string_view headers = {},
                   const char* source = "127.0.0.1");

// "localhost:8600" → 8600
uint16_t PortOfAddress(std::string_view address);

}  // namespace opserve::testing
