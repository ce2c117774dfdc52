#include "tests/server/outcome.h"

#include <limits>
#include <vector>

#include <google/protobuf/wrappers.pb.h>

#include "absl/status/status.h"
#include "server/transport/unary/deadline.h"

namespace opserve::testing {
namespace {

std::string Metadata(const google::rpc::ErrorInfo& info, const char* key) {
  const auto found = info.metadata().find(key);
  return found == info.metadata().end() ? "" : found->second;
}

}  // namespace

std::string Outcome::parameter() const { return Metadata(info, "parameter"); }
std::string Outcome::aclnn_code() const { return Metadata(info, "code"); }

std::shared_ptr<grpc::Channel> OwnChannel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

void SetTimeout(grpc::ClientContext& context, absl::Duration timeout) {
  context.set_deadline(server::TimeFromNow(timeout));
}

void Describe(const grpc::Status& status, Outcome& outcome) {
  outcome.code = absl::StatusCodeToString(static_cast<absl::StatusCode>(status.error_code()));
  outcome.message = status.error_message();
  google::rpc::Status details;
  outcome.has_info = details.ParseFromString(status.error_details()) &&
                     details.details_size() >= 1 &&
                     outcome.info.ParseFromString(details.details(0).value());
}

grpc::ByteBuffer BufferOf(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

std::string BytesOfBuffer(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  if (!buffer.Valid() || !buffer.Dump(&slices).ok()) return {};
  std::string bytes;
  for (const grpc::Slice& slice : slices)
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return bytes;
}

std::string HealthStatus(const std::string& response) {
  google::protobuf::Int32Value status;  // as HealthCheckResponse
  if (!status.ParseFromString(response)) return "UNKNOWN";
  constexpr const char* kNames[] = {"UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"};
  return status.value() >= 0 && status.value() <= 3 ? kNames[status.value()] : "another";
}

}  // namespace opserve::testing
