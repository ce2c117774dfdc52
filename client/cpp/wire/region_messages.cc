#include "absl/strings/str_cat.h"
#include "client/cpp/wire/messages.h"
#include "client/cpp/wire/read_message.h"
#include "client/cpp/wire/status_details.h"
#include "core/base/status_macros.h"
#include "opserve/v1/shared_memory.pb.h"

namespace opserve::client {
namespace {

constexpr size_t kRegionIdBytes = 16;
constexpr std::string_view kRegionAnswer = "SharedMemoryResponse";

}  // namespace

std::string MakeAllocateRegionRequest(int64_t size_bytes) {
  v1::SharedMemoryRequest request;
  request.mutable_allocate()->set_size_bytes(size_bytes);
  return request.SerializeAsString();
}

std::string MakeReleaseRegionRequest(const std::string& id) {
  v1::SharedMemoryRequest request;
  request.mutable_release()->set_id(id);
  return request.SerializeAsString();
}

absl::StatusOr<std::string> ReadRegionId(std::string_view packet, int64_t size_bytes) {
  v1::SharedMemoryResponse response;
  OPSERVE_RETURN_IF_ERROR(ReadMessage(packet, response));
  if (response.has_error()) {
    absl::Status status = StatusFromWire(response.error());
    return status.ok() ? BadAnswer(kRegionAnswer, "error", "a code of an error", "OK") : status;
  }
  const v1::SharedRegion& region = response.region();
  if (region.id().size() != kRegionIdBytes) {
    return BadAnswer(kRegionAnswer, "id", absl::StrCat(kRegionIdBytes, " bytes"),
                     absl::StrCat(region.id().size()));
  }
  if (region.size_bytes() != size_bytes) {
    return BadAnswer(kRegionAnswer, "size_bytes", absl::StrCat(size_bytes, ", as was asked for"),
                     absl::StrCat(region.size_bytes()));
  }
  return region.id();
}

}  // namespace opserve::client
