// Matching what has a status: absl::Status, StatusOr, gRPC's, and the answers of test clients.
#pragma once

#include "gmock/gmock.h"

namespace opserve::testing {

// arg.ok(); otherwise says which status it is.
MATCHER(IsOk, negation ? "is an error" : "is OK") {
  if (arg.ok()) return true;
  if constexpr (requires { arg.status(); }) {
    *result_listener << "which is " << arg.status();
  } else if constexpr (requires { arg.error_message(); }) {
    *result_listener << "which is " << arg.error_code() << ": " << arg.error_message();
  } else if constexpr (requires { *result_listener << arg.code << arg.message; }) {
    *result_listener << "which is " << arg.code << ": " << arg.message;
  }
  return false;
}

}  // namespace opserve::testing
