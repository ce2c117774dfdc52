// SystemSharedMemory's messages of the Open Inference Protocol, and the regions of one client.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "inference/open_inference.pb.h"
#include "server/shared_memory/named_region_table.h"

namespace opserve::server {

// The client's region of that name, or all of its for an empty one. OBJECT_NOT_FOUND naming `name`.
absl::StatusOr<inference::SystemSharedMemoryStatusResponse> EncodeRegions(
    const NamedRegionTable& table, const LocalUser& who, std::string_view name);

// As NamedRegionTable::Register; UNIMPLEMENTED, naming the flag, without a table (nullptr).
absl::Status RegisterRegion(NamedRegionTable* table, const absl::StatusOr<LocalUser>& who,
                            const inference::SystemSharedMemoryRegisterRequest& request);

// What registering CUDA's memory is answered: UNIMPLEMENTED.
absl::Status NoCudaMemory();

}  // namespace opserve::server
