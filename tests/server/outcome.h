// What the clients of these tests share; for their sources alone, since it brings gRPC in.
#pragma once

#include <memory>
#include <string>

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/byte_buffer.h>

#include "absl/time/time.h"
#include "tests/server/test_server.h"

namespace opserve::testing {

// A channel whose connection no other channel shares, without bounds on messages.
std::shared_ptr<grpc::Channel> OwnChannel(const std::string& address);

void SetTimeout(grpc::ClientContext& context, absl::Duration timeout);
void Describe(const grpc::Status& status, Outcome& outcome);

grpc::ByteBuffer BufferOf(const std::string& bytes);
std::string BytesOfBuffer(const grpc::ByteBuffer& buffer);

// The status in the bytes of a HealthCheckResponse: "SERVING", "NOT_SERVING", …
std::string HealthStatus(const std::string& response);

}  // namespace opserve::testing
