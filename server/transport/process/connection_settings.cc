#include "server/transport/process/connection_settings.h"

#include <limits>

#include <grpc/grpc.h>
#include <grpcpp/resource_quota.h>

#include "absl/time/time.h"

namespace opserve::server {
namespace {

// A connection that has not said its TLS and its HTTP/2 settings by then is not a client's.
constexpr absl::Duration kHandshakeTimeout = absl::Seconds(10);
// gRPC reads four times as much of a connection before it looks at the others again.
constexpr int kMaxReadBytes = 256 << 10;

// Zero is "never", which is gRPC's largest number.
void AddTime(grpc::ServerBuilder& builder, const char* argument, absl::Duration time) {
  const int never = std::numeric_limits<int>::max();
  const bool is_set = time > absl::ZeroDuration();
  builder.AddChannelArgument(argument,
                             is_set ? static_cast<int>(absl::ToInt64Milliseconds(time)) : never);
}

void SetUpMemory(int64_t quota_bytes, grpc::ServerBuilder& builder) {
  if (quota_bytes == 0) return;
  grpc::ResourceQuota quota("opserve");
  quota.Resize(static_cast<size_t>(quota_bytes));
  builder.SetResourceQuota(quota);
}

}  // namespace

void SetUpConnections(const ConnectionConfig& config, grpc::ServerBuilder& builder) {
  builder.AddChannelArgument(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, kMaxReadBytes);
  AddTime(builder, GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeTimeout);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                             static_cast<int>(config.max_concurrent_streams));
  AddTime(builder, GRPC_ARG_MAX_CONNECTION_AGE_MS, config.max_age);
  AddTime(builder, GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS, config.max_age_grace);
  AddTime(builder, GRPC_ARG_MAX_CONNECTION_IDLE_MS, config.max_idle);
  AddTime(builder, GRPC_ARG_KEEPALIVE_TIME_MS, config.keepalive_time);
  AddTime(builder, GRPC_ARG_KEEPALIVE_TIMEOUT_MS, config.keepalive_timeout);
  SetUpMemory(config.memory_quota_bytes, builder);
}

void SetUpCompression(int64_t max_inflated_bytes, grpc::ServerBuilder& builder) {
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  for (const grpc_compression_algorithm algorithm : {GRPC_COMPRESS_DEFLATE, GRPC_COMPRESS_GZIP})
    builder.SetCompressionAlgorithmSupportStatus(algorithm, max_inflated_bytes > 0);
}

}  // namespace opserve::server
