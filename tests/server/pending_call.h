// Calls that are still on their way while a test goes on. Hides gRPC, whose headers are slow to
// compile.
#pragma once

#include <memory>
#include <string>

#include "absl/time/time.h"
#include "opserve/v1/operator_service.pb.h"
#include "tests/server/test_server.h"

namespace opserve::testing {

// The mean of |3 - 1| over `elements` broadcast elements, which is 2: a few bytes to send and to
// answer, and as much time as the elements take; 2^30 of them are about a second of one thread
// under AddressSanitizer.
v1::ExecuteRequest LongRequest(int64_t elements);

// One Execute on a connection of its own. The destructor cancels it if it is not over.
class PendingCall {
 public:
  PendingCall(const std::string& address, const v1::ExecuteRequest& request,
              absl::Duration timeout = absl::Seconds(120));
  ~PendingCall();
  PendingCall(const PendingCall&) = delete;
  PendingCall& operator=(const PendingCall&) = delete;

  // A round trip on the same connection: what was sent before is with the server.
  void RoundTrip();
  void Cancel();
  // Waits for the answer. Once.
  Answer<v1::ExecuteResponse> Wait();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The same for ExecuteBatch.
class PendingBatch {
 public:
  PendingBatch(const std::string& address, const v1::ExecuteBatchRequest& request);
  ~PendingBatch();
  PendingBatch(const PendingBatch&) = delete;
  PendingBatch& operator=(const PendingBatch&) = delete;

  void RoundTrip();
  void Cancel();
  Answer<v1::ExecuteBatchResponse> Wait();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A grpc.health.v1 watch, which lasts until the server or the destructor ends it.
class HealthWatch {
 public:
  HealthWatch(const std::string& address, const std::string& service);
  ~HealthWatch();
  HealthWatch(const HealthWatch&) = delete;
  HealthWatch& operator=(const HealthWatch&) = delete;

  // Waits for the next status: "SERVING", "NOT_SERVING", …, or "" when the watch ended.
  std::string Next();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace opserve::testing
