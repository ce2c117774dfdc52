// Errors as HTTP tells them.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace opserve::server {

// 400 for INVALID_ARGUMENT, 404 for NOT_FOUND, …
int HttpStatusOf(absl::StatusCode code);

// {"error":"…","code":"INVALID_ARGUMENT","info":{…},"retry_after_ms":100}: the text, gRPC's code,
// and, of an error made by core/base/op_error.h, its ErrorInfo (docs/errors.md), and when to try
// again.
std::string ErrorJson(const absl::Status& status);

}  // namespace opserve::server
