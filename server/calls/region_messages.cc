#include "server/calls/region_messages.h"

#include <string>

#include "core/base/op_error.h"
#include "core/base/strings.h"

namespace opserve::server {
namespace {

using inference::SystemSharedMemoryStatusResponse;

void Encode(const NamedRegionSpec& spec, SystemSharedMemoryStatusResponse& out) {
  SystemSharedMemoryStatusResponse::RegionStatus& region = (*out.mutable_regions())[spec.name];
  region.set_name(spec.name);
  region.set_key(spec.key);
  region.set_offset(spec.offset);
  region.set_byte_size(spec.byte_size);
}

absl::Status Unimplemented(std::string_view parameter, std::string_view want,
                           std::string_view got) {
  return MakeError({.reason = ErrorReason::kOperatorUnsupported,
                    .op = {},
                    .parameter = std::string(parameter),
                    .want = std::string(want),
                    .got = std::string(got)});
}

}  // namespace

absl::StatusOr<SystemSharedMemoryStatusResponse> EncodeRegions(const NamedRegionTable& table,
                                                               const LocalUser& who,
                                                               std::string_view name) {
  SystemSharedMemoryStatusResponse out;
  if (name.empty()) {
    for (const auto& region : table.List(who)) Encode(region->spec(), out);
    return out;
  }
  const std::shared_ptr<const NamedRegion> region = table.Find(who, name);
  if (region == nullptr) {
    return MakeError({.reason = ErrorReason::kObjectNotFound,
                      .op = {},
                      .parameter = "name",
                      .want = "a region of shared memory that the client registered",
                      .got = Quoted(name)});
  }
  Encode(region->spec(), out);
  return out;
}

absl::Status RegisterRegion(NamedRegionTable* table, const absl::StatusOr<LocalUser>& who,
                            const inference::SystemSharedMemoryRegisterRequest& request) {
  if (table == nullptr) {
    return Unimplemented("shared memory", "a server with --open-inference-shared-memory",
                         "one without");
  }
  if (!who.ok()) return who.status();
  return table->Register(*who, {.name = request.name(),
                                .key = request.key(),
                                .offset = request.offset(),
                                .byte_size = request.byte_size()});
}

absl::Status NoCudaMemory() {
  return Unimplemented("shared memory", "system shared memory, or tensors in the message",
                       "CUDA's, which opserve does not take");
}

}  // namespace opserve::server
