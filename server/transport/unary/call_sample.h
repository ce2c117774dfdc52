// Whose a unary call is, and whether its client left it: of some calls, as finding out takes as
// long as much of what small ones are for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <grpcpp/server_context.h>

#include "server/connections/connection_table.h"

namespace opserve::server {

// One of so many small calls, which stands for as many, and every large one. Lives as long as its
// call.
class CallSample {
 public:
  // Requests up to here are small.
  static constexpr size_t kSmallRequestBytes = 4096;

  // Counts a request, which came whole, with its connection. With `looks_at_all` every call is a
  // sample. `context` must outlive it.
  CallSample(const ConnectionTable& connections, const grpc::CallbackServerContext& context,
             size_t request_bytes, bool looks_at_all);
  CallSample(const CallSample&) = delete;
  CallSample& operator=(const CallSample&) = delete;

  // nullptr where the call is no sample, or there is no telling.
  const Connection* connection() const { return connection_.get(); }
  // How many calls.
  int64_t stands_for() const { return stands_for_; }

  // In OnDone: counts a call that its client took back, or whose answer it did not wait for.
  void End() const;

 private:
  const ConnectionTable& connections_;
  const grpc::CallbackServerContext& context_;
  int64_t stands_for_ = 1;
  // Found at the beginning: gRPC forgets a call's peer when the call is cancelled.
  std::shared_ptr<Connection> connection_;
};

}  // namespace opserve::server
