// gRPC channels to one target, as bytes in and bytes out. Only this and message_stream.h
// know gRPC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include <opserve/client.h>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/cpp/transport/message_stream.h"
#include "client/cpp/values/request.h"
#include "core/base/fragments.h"

namespace opserve::client {

// How long after its deadline gRPC may take to end a call.
inline constexpr absl::Duration kGrace = absl::Milliseconds(200);
// gRPC carries no larger message.
inline constexpr size_t kTransportMaxBytes = std::numeric_limits<uint32_t>::max();

// The status of a call that had no answer within its timeout: whether `status` is one, and one to
// return.
bool IsTooLate(const absl::Status& status);
absl::Status TooLate(const std::string& target, absl::Duration timeout);

struct Channel;

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

  // Whether the options are sound and go with the target. Errors (161002) name the option.
  static absl::Status Check(std::string_view target, const ConnectOptions& options);
  // `max_answer_bytes` is of one answer, and of one message on a stream.
  Connection(std::string_view target, const ConnectOptions& options);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Starts a unary call of `method` ("/package.Service/Method"). The request must be smaller than 4
  // GiB. An answer that is larger, or compressed, is not taken: RESOURCE_EXHAUSTED, INTERNAL.
  std::shared_ptr<RunningCall> Start(const std::string& method, const Request& request,
                                     RpcOptions options, Ended ended);

  // The same on this thread, which no other one has to wake. `read` gets the answer of a call that
  // is OK. Views without owners are no longer read when this returns.
  absl::Status Call(const std::string& method, const Request& request, RpcOptions options,
                    absl::FunctionRef<void(const Fragments& answer)> read) const;

  // A bidirectional call, not yet started.
  std::shared_ptr<MessageStream> NewStream(const std::string& method, RpcOptions options,
                                           std::shared_ptr<MessageStream::Listener> listener);

  const std::string& target() const { return target_; }
  int tries() const { return tries_; }
  // Whether there may be several connections, of which the server may refuse some.
  bool has_several() const { return has_several_; }
  // Whether the target names one server on this machine.
  bool is_local() const { return is_local_; }

 private:
  struct Transport;

  // With what is alike for all RPCs.
  void Complete(RpcOptions& options) const;
  absl::Status CallOnce(const Channel& channel, const std::string& method, const Request& request,
                        const RpcOptions& options,
                        absl::FunctionRef<void(const Fragments& answer)> read) const;

  const std::string target_;
  const std::string token_;
  const Encryption encryption_;
  const int tries_;
  const bool has_several_;
  const bool is_local_;
  const std::shared_ptr<Transport> transport_;
};

}  // namespace opserve::client
