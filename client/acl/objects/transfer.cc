#include "client/acl/objects/transfer.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/acl/objects/status_codes.h"
#include "client/acl/objects/thread_state.h"
#include "core/base/status_macros.h"

namespace opserve::acl {
namespace {

enum class Place : uint8_t { kHost, kDevice, kEither };

struct Places {
  Place to;
  Place from;
};

absl::StatusOr<Places> PlacesOf(aclrtMemcpyKind kind) {
  switch (kind) {
    case ACL_MEMCPY_HOST_TO_HOST:
      return Places{.to = Place::kHost, .from = Place::kHost};
    case ACL_MEMCPY_HOST_TO_DEVICE:
      return Places{.to = Place::kDevice, .from = Place::kHost};
    case ACL_MEMCPY_DEVICE_TO_HOST:
      return Places{.to = Place::kHost, .from = Place::kDevice};
    case ACL_MEMCPY_DEVICE_TO_DEVICE:
      return Places{.to = Place::kDevice, .from = Place::kDevice};
    case ACL_MEMCPY_DEFAULT:
      return Places{.to = Place::kEither, .from = Place::kEither};
  }
  return Failure(ACL_ERROR_INVALID_PARAM,
                 absl::StrCat("kind: want an aclrtMemcpyKind, got ", static_cast<int>(kind)));
}

absl::Status WrongSide(const char* parameter, const char* want, const void* got) {
  return Failure(ACL_ERROR_RT_PARAM_INVALID,
                 absl::StrFormat("%s: want %s, got %p", parameter, want, got));
}

absl::Status CheckFits(size_t count, size_t max, const char* parameter) {
  if (count <= max) return absl::OkStatus();
  return Failure(ACL_ERROR_RT_PARAM_INVALID,
                 absl::StrCat("count: want <= ", parameter, " = ", max, ", got ", count));
}

absl::Status CheckRange(const DeviceAddress& at, size_t count, const char* parameter) {
  const auto left = static_cast<size_t>(at.bytes_left());
  if (count <= left) return absl::OkStatus();
  return Failure(ACL_ERROR_RT_PARAM_INVALID,
                 absl::StrCat(parameter, ": want ", count,
                              " bytes up to the end of its allocation, got ", left));
}

absl::StatusOr<Side> FindSide(const AddressMap& memory, const void* address, size_t count,
                              Place place, const char* parameter) {
  OPSERVE_RETURN_IF_ERROR(CheckGiven(address, parameter));
  Side side{.device = memory.Find(address), .host = nullptr};
  if (!side.device.has_value()) {
    if (place == Place::kDevice)
      return WrongSide(parameter, "an address of device memory", address);
    side.host = static_cast<std::byte*>(const_cast<void*>(address));
    return side;
  }
  if (place == Place::kHost) return WrongSide(parameter, "an address of the host", address);
  OPSERVE_RETURN_IF_ERROR(CheckRange(*side.device, count, parameter));
  return side;
}

absl::Status CheckApart(const CopySides& sides, size_t count) {
  if (!sides.to.device.has_value() || !sides.from.device.has_value()) return absl::OkStatus();
  const MemoryView& to = sides.to.device->view;
  const MemoryView& from = sides.from.device->view;
  const auto bytes = static_cast<int64_t>(count);
  if (to.memory != from.memory || to.offset_bytes >= from.offset_bytes + bytes ||
      from.offset_bytes >= to.offset_bytes + bytes)
    return absl::OkStatus();
  return Failure(ACL_ERROR_RT_PARAM_INVALID,
                 "dst: want a range apart from src's, got one that "
                 "overlaps it");
}

}  // namespace

absl::StatusOr<CopySides> FindCopySides(const AddressMap& memory, const CopyArguments& copy) {
  OPSERVE_ASSIGN_OR_RETURN(const Places places, PlacesOf(copy.kind));
  OPSERVE_RETURN_IF_ERROR(CheckFits(copy.count, copy.dest_max, "dest_max"));
  CopySides sides;
  OPSERVE_ASSIGN_OR_RETURN(sides.to, FindSide(memory, copy.dst, copy.count, places.to, "dst"));
  OPSERVE_ASSIGN_OR_RETURN(sides.from, FindSide(memory, copy.src, copy.count, places.from, "src"));
  OPSERVE_RETURN_IF_ERROR(CheckApart(sides, copy.count));
  return sides;
}

absl::StatusOr<Side> FindFillSide(const AddressMap& memory, const HostMemory& host_memory,
                                  void* address, size_t max_count, size_t count) {
  OPSERVE_RETURN_IF_ERROR(CheckFits(count, max_count, "max_count"));
  OPSERVE_ASSIGN_OR_RETURN(Side side, FindSide(memory, address, count, Place::kEither, "dev_ptr"));
  if (side.device.has_value() || host_memory.Holds(address, count)) return side;
  return WrongSide("dev_ptr", "memory of aclrtMalloc or aclrtMallocHost, for all bytes", address);
}

}  // namespace opserve::acl
