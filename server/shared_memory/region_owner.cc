#include "server/shared_memory/region_owner.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "server/codec/status_details.h"

namespace opserve::server {

MemoryAnswer RefuseMemory(const absl::Status& status, bool is_last) {
  v1::SharedMemoryResponse response;
  *response.mutable_error() = EncodeStatusDetails(status);
  return {.bytes = response.SerializeAsString(), .fd = UniqueFd(), .is_last = is_last};
}

RegionOwner::~RegionOwner() {
  for (const std::string& id : ids_) table_.Release(id, contents_);
}

MemoryAnswer RegionOwner::Handle(std::span<const std::byte> packet) {
  const auto bad = [](const std::string& got) {
    return RefuseMemory(MalformedMessage(absl::StrCat("a SharedMemoryRequest of at most ",
                                                      kMaxMemoryRequestBytes, " bytes"),
                                         got),
                        true);
  };
  if (packet.size() > kMaxMemoryRequestBytes) return bad(absl::StrCat(packet.size(), " bytes"));
  v1::SharedMemoryRequest request;
  if (!request.ParseFromArray(packet.data(), static_cast<int>(packet.size())))
    return bad("malformed bytes");
  switch (request.command_case()) {
    case v1::SharedMemoryRequest::kAllocate:
      return Allocate(request.allocate());
    case v1::SharedMemoryRequest::kRelease:
      return Release(request.release());
    case v1::SharedMemoryRequest::COMMAND_NOT_SET:
      break;
  }
  return bad("no command that this server knows");
}

MemoryAnswer RegionOwner::Allocate(const v1::AllocateRegionCommand& request) {
  absl::StatusOr<RegionTable::NewRegion> made = table_.Allocate(request.size_bytes());
  if (!made.ok()) return RefuseMemory(made.status(), false);
  ids_.insert(made->region->id());
  v1::SharedMemoryResponse response;
  response.mutable_region()->set_id(made->region->id());
  response.mutable_region()->set_size_bytes(request.size_bytes());
  return {.bytes = response.SerializeAsString(), .fd = std::move(made->fd)};
}

MemoryAnswer RegionOwner::Release(const v1::ReleaseRegionCommand& request) {
  if (ids_.erase(request.id()) == 0) {
    return RefuseMemory(
        MakeError({.reason = ErrorReason::kObjectNotFound,
                   .op = {},
                   .parameter = "region",
                   .want = "the id of a region of this connection",
                   .got = absl::StrCat("another, of ", request.id().size(), " bytes")}),
        false);
  }
  table_.Release(request.id(), RegionTable::Contents::kDiscarded);
  v1::SharedMemoryResponse response;
  response.mutable_released();
  return {.bytes = response.SerializeAsString()};
}

}  // namespace opserve::server
