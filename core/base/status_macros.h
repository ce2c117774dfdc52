// Early return for absl::Status and absl::StatusOr.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Returns from the enclosing function when `expression` is not OK.
#define OPSERVE_RETURN_IF_ERROR(expression)            \
  do {                                                 \
    absl::Status opserve_status_ = (expression);       \
    if (!opserve_status_.ok()) return opserve_status_; \
  } while (false)

// `OPSERVE_ASSIGN_OR_RETURN(auto x, F());` declares or assigns x, or returns F's error.
#define OPSERVE_ASSIGN_OR_RETURN(target, expression) \
  OPSERVE_ASSIGN_OR_RETURN_AT_(OPSERVE_CONCAT_(opserve_or_, __LINE__), target, expression)

#define OPSERVE_CONCAT_(a, b) OPSERVE_CONCAT_NOW_(a, b)
#define OPSERVE_CONCAT_NOW_(a, b) a##b
#define OPSERVE_ASSIGN_OR_RETURN_AT_(result, target, expression) \
  auto result = (expression);                                    \
  if (!result.ok()) return std::move(result).status();           \
  target = *std::move(result)
