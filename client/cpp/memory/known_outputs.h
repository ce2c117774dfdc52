// What came of calls before: the outputs of a call that is like one of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <opserve/call.h>
#include <opserve/schema.h>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "core/base/mutex.h"

namespace opserve::client {

// Outputs follow from what is described of a call (DescriptionOf). Thread-safe, and bounded: when
// it is full it begins anew.
class KnownOutputs {
 public:
  using Outputs = std::vector<PlannedOutput>;

  // nullptr where nothing is known.
  std::shared_ptr<const Outputs> Find(const std::string& description) const;
  void Learn(const std::string& description, const ExecuteResult& result);
  void Forget(const std::string& description);

 private:
  mutable Mutex mutex_;
  absl::flat_hash_map<std::string, std::shared_ptr<const Outputs>> known_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace opserve::client
