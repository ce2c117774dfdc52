// Host memory that the transport reads or writes while its owner goes on.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "core/base/mutex.h"

namespace opserve::acl {

// Counts loans. Who returns one may do so when all else is gone, so it is shared. Thread-safe.
class LentMemory {
 public:
  // The loan's number: 1, 2, …
  uint64_t Lend();
  void Return(uint64_t loan);
  // The number of the latest loan.
  uint64_t latest() const;
  // Whether all loans up to `last` were returned by `deadline`.
  bool AwaitReturn(uint64_t last, absl::Time deadline);

 private:
  mutable Mutex mutex_;
  CondVar changed_;
  uint64_t latest_ ABSL_GUARDED_BY(mutex_) = 0;
  std::set<uint64_t> lent_ ABSL_GUARDED_BY(mutex_);
};

// What was lent until some time, by a stream and by those that it waits for. Whatever a server
// says, work has ended only when these were returned. Not thread-safe.
class Loans {
 public:
  // Those of `memory` up to now.
  void Add(const std::shared_ptr<LentMemory>& memory);
  void Add(const Loans& loans);
  bool AwaitReturn(absl::Time deadline) const;

 private:
  void Add(const std::shared_ptr<LentMemory>& memory, uint64_t last);

  std::map<std::shared_ptr<LentMemory>, uint64_t> last_;
};

}  // namespace opserve::acl
