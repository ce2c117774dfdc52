// Errors as HTTP tells them.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace opserve::server {

// 400 for INVALID_ARGUMENT, 404 for NOT_FOUND, …
int HttpStatusOf(absl::StatusCode code);

// {"error":"…"}
std::string ErrorJson(const absl::Status& status);

}  // namespace opserve::server
