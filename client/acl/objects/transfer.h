// Copies and fills between memory that programs name by address and kind.
#pragma once

#include <cstddef>
#include <optional>

#include "absl/status/statusor.h"
#include "acl/acl_rt.h"
#include "client/acl/objects/address_map.h"

namespace opserve::acl {

// One side of a transfer: the device's memory, or the host's.
struct Side {
  std::optional<DeviceAddress> device;
  std::byte* host = nullptr;
};

struct CopySides {
  Side to;
  Side from;
};

struct CopyArguments {
  void* dst;
  size_t dest_max;
  const void* src;
  size_t count;
  aclrtMemcpyKind kind;
};

// 100000 for a null address or no such kind; 107000 for a count that does not fit, an address that
// is not on the kind's side, ranges of one allocation that overlap. `count` > 0.
absl::StatusOr<CopySides> FindCopySides(const AddressMap& memory, const CopyArguments& copy);

// Where a fill goes; errors likewise.
absl::StatusOr<Side> FindFillSide(const AddressMap& memory, const HostMemory& host_memory,
                                  void* address, size_t max_count, size_t count);

}  // namespace opserve::acl
