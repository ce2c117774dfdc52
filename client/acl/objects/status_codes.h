// Core's statuses as codes of the C interface.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "acl/acl_base.h"

namespace opserve::acl {

// A status that has a code of the runtime.
absl::Status Failure(aclError code, std::string_view message);

// What the runtime's functions return for `status`: Failure's code, or that of core's reason.
aclError RuntimeCode(const absl::Status& status);

// What the operators' functions return: core's code where there is one (161001, 161002, 561103),
// 361001 for all else.
int32_t OperatorCode(const absl::Status& status);

}  // namespace opserve::acl
