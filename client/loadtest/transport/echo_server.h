// A server in this process that does nothing: what a load reaches against it is what the load
// itself can do.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace opserve::loadtest {

// Until it is destroyed, which ends the calls that are under way.
class EchoServer {
 public:
  enum class Socket : uint8_t { kTcp, kUnix };

  struct Answers {
    std::vector<std::string> unary;  // to each call of MethodOf(i), whatever the request is
    // Of a method of streams: to each message, from any thread.
    std::string stream_method;
    std::function<std::string(std::string_view message)> stream;
  };

  // Listens on 127.0.0.1, or in a folder that only this user can enter.
  static absl::StatusOr<std::unique_ptr<EchoServer>> Start(Answers answers, Socket socket);
  virtual ~EchoServer() = default;

  static std::string MethodOf(size_t answer);
  // For Connect.
  virtual const std::string& target() const = 0;
};

}  // namespace opserve::loadtest
