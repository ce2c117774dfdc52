// Why calls failed, and how many.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "core/base/mutex.h"

namespace opserve::loadtest {

// All failures of one kind.
struct Failure {
  std::string code;    // gRPC's: "RESOURCE_EXHAUSTED"
  std::string reason;  // ErrorInfo's: "RESOURCE_LIMIT"; empty where the error has none
  int64_t calls = 0;
  std::string example;  // the message of the first
};

// Thread-safe. Knows a bounded number of kinds; the rest are counted together.
class Failures {
 public:
  // `status` is an error.
  void Add(const absl::Status& status, int64_t calls);
  // The most frequent first.
  std::vector<Failure> List() const;

 private:
  mutable Mutex mutex_;
  std::map<std::pair<std::string, std::string>, Failure> kinds_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace opserve::loadtest
