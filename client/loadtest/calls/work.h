// An operator's call that a load makes again and again.
#pragma once

#include <string>

#include <opserve/call.h>

#include "absl/time/time.h"

namespace opserve::loadtest {

struct Work {
  std::string name;   // in reports
  client::Call call;  // its inputs have owners
  double weight = 1;
  absl::Duration timeout;
};

}  // namespace opserve::loadtest
