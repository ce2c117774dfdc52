// What phase one answered before: a program that makes a call again, on the same memory and with
// the same attributes, need not wait for the same answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "client/acl/provider/provider.h"
#include "core/base/mutex.h"

namespace opserve::acl {

// Of one device, in one session: there the answer follows from the call alone. Thread-safe.
class KnownPlans {
 public:
  // The call as bytes: equal ones have the same answer. Its memory is a server's.
  static std::string KeyOf(const OperatorCall& call);

  // The bytes of workspace that the call needs; nullopt: it was not made before.
  std::optional<int64_t> Find(const std::string& key);
  // A key that is larger than all may be together is not remembered.
  void Remember(std::string key, int64_t workspace_bytes);

 private:
  static constexpr size_t kMost = 4096;
  static constexpr size_t kMostBytes = size_t{8} << 20;  // of keys

  Mutex mutex_;
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<std::string, int64_t> workspace_bytes_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace opserve::acl
