// One gRPC channel, as bytes in and bytes out: the only place of the library that knows gRPC.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/base/fragments.h"

namespace opserve::client {

// A message to send, in pieces: bytes of its own and views of others' memory, in the order they
// were appended.
class Request {
 public:
  struct Piece {
    std::string own;  // used when `view` is empty
    std::span<const std::byte> view;
    std::shared_ptr<const void>
        owner;  // keeps `view`; without it the call ends only after `view` was let go of
  };

  void AppendCopy(std::string_view bytes);
  void AppendView(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

  size_t size_bytes() const { return size_bytes_; }
  const std::vector<Piece>& pieces() const { return pieces_; }

 private:
  std::vector<Piece> pieces_;
  size_t size_bytes_ = 0;
};

class RunningCall {
 public:
  virtual ~RunningCall() = default;
  // Any thread, any time.
  virtual void Cancel() = 0;
};

// Thread-safe. Calls keep what they need of it: it may go while they run.
class Connection {
 public:
  // Called exactly once, on a thread of the transport, when the call is over and the request's
  // memory is no longer read. Where all views have owners, the latter is not waited for: the call
  // ends at its deadline whatever the peer does. The answer is valid during the call, and empty
  // when the status is not OK.
  using Ended = absl::AnyInvocable<void(absl::Status status, const Fragments& answer)>;

  explicit Connection(std::string_view target);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Starts a unary call of `method` ("/package.Service/Method"). The request must be smaller than 4
  // GiB.
  std::shared_ptr<RunningCall> Start(const std::string& method, const Request& request,
                                     absl::Duration timeout, Ended ended);

  const std::string& target() const { return target_; }

 private:
  struct Channel;

  const std::string target_;
  const std::unique_ptr<Channel> channel_;
};

}  // namespace opserve::client
