// A server of the real API whose answers a test scripts: in process, on a unix socket and a port.
// The only gRPC of these tests.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <opserve/client.h>

#include "opserve/v1/operator_service.pb.h"

namespace opserve::client {

// What Execute does with one request.
struct Reply {
  int code = 0;
  std::string message;
  std::string details;
  v1::ExecuteResponse response;
  // Answers only when the caller has gone away.
  bool hold = false;
};

class FakeServer {
 public:
  // `execute` is called from several threads. `target`: a unix socket; empty: one of its own.
  // `memory_socket`: what it says of its shared memory.
  explicit FakeServer(std::function<Reply(const v1::ExecuteRequest&)> execute,
                      int max_message_bytes = 64 << 20, std::string target = "",
                      std::string memory_socket = "");
  // Cancels what is held.
  ~FakeServer();

  // From now on the server says nothing of itself until who asks has gone away.
  void HoldInfo();

  const std::string& target() const { return target_; }
  // "127.0.0.1:40000"
  std::string address() const;

 private:
  class Service;

  std::string target_;
  std::unique_ptr<Service> service_;
};

// One output "out": the first input's bytes.
Reply Echo(const v1::ExecuteRequest& request);

inline Client Connect(const FakeServer& server) { return *Client::Connect(server.target()); }

}  // namespace opserve::client
