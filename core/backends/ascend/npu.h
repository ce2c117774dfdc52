// One NPU as threads of ours use it: a context that each thread enters, streams that calls borrow,
// and the judgement of what failures mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/backends/ascend/acl_library.h"
#include "core/base/mutex.h"

namespace opserve::ascend {

// Thread-safe. Whoever calls `acl()` has entered on that thread.
class Npu {
 public:
  // `name` is for messages.
  static absl::StatusOr<std::unique_ptr<Npu>> Open(std::shared_ptr<const AclLibrary> library,
                                                   int32_t id, std::string name,
                                                   absl::Duration timeout);
  ~Npu();
  Npu(const Npu&) = delete;
  Npu& operator=(const Npu&) = delete;

  const AclLibrary& library() const { return *library_; }
  const AclFunctions& acl() const { return library_->functions(); }

  // OK, or DEVICE_LOST with the reason, for ever.
  absl::Status health() const;

  // Makes the device the thread's. health() when that is not OK.
  absl::Status Enter();
  // Likewise, whatever its health: to give back what it holds.
  void EnterToFree();

  // What the result `code` of `function`, called by this thread just now, means. 161xxx are the
  // caller's (161001, 161002), 207001, 207018 and 200000 RESOURCE_EXHAUSTED, others 361001. A
  // device that failed is asked to copy a few bytes; one that cannot, and one on which work does
  // not end, is not used any more.
  absl::Status Check(int32_t code, std::string_view function);

  // A stream with nothing on it.
  absl::StatusOr<void*> BorrowStream();
  // Waits for what is on it, and takes it back. The work on it may be under way still after an
  // error, but only if health() is not OK then.
  absl::Status FinishStream(void* stream);
  // Of a stream on which the last work was not accepted.
  void DropStream(void* stream);

 private:
  Npu(std::shared_ptr<const AclLibrary> library, std::string name, absl::Duration timeout);
  absl::Status Start(int32_t id);
  bool Answers();
  void Quarantine(std::string_view why);

  const std::shared_ptr<const AclLibrary> library_;
  const std::string name_;
  const int32_t timeout_milliseconds_;
  const uint64_t serial_;  // of all that there ever were
  void* context_ = nullptr;
  void* probe_ = nullptr;

  mutable Mutex mutex_;
  std::string quarantine_ ABSL_GUARDED_BY(mutex_);  // why; empty = it works
  std::vector<void*> streams_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace opserve::ascend
