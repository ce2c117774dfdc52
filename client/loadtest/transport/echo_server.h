// A server in this process that does nothing: what a load reaches against it is what the load
// itself can do.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace opserve::loadtest {

// Until it is destroyed, which ends the calls that are under way.
class EchoServer {
 public:
  enum class Socket : uint8_t { kTcp, kUnix };

  // Answers each call of MethodOf(i) with answers[i], whatever the request is. Listens on
  // 127.0.0.1, or in a folder that only this user can enter.
  static absl::StatusOr<std::unique_ptr<EchoServer>> Start(std::vector<std::string> answers,
                                                           Socket socket);
  virtual ~EchoServer() = default;

  static std::string MethodOf(size_t answer);
  // For Connect.
  virtual const std::string& target() const = 0;
};

}  // namespace opserve::loadtest
