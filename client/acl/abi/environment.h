// What the environment says at aclInit. docs/acl.md lists the variables.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "client/acl/provider/provider.h"

namespace opserve::acl {

// Devices of the server that OPSERVE_TARGET names, else of this process; sets the faults of
// OPSERVE_ACL_FAULTS before. 161002 naming the variable that makes no sense.
absl::StatusOr<std::unique_ptr<Provider>> OpenProvider();

// OPSERVE_ACL_REPORT_LEAKS.
bool ReportsLeaks();

}  // namespace opserve::acl
