// The server's shared memory, for calls that do not ask for it: whether there is any, and the large
// tensors of a call in it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <opserve/call.h>
#include <opserve/schema.h>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cpp/memory/known_outputs.h"
#include "client/cpp/memory/region_pool.h"
#include "client/cpp/values/shared_region.h"
#include "core/base/mutex.h"

namespace opserve::client {

// Tensors of so many bytes are worth it (docs/shared_memory.md says how it was measured).
inline constexpr int64_t kLeastSharedBytes = int64_t{64} << 10;

// Whether it has an input that is as large and is not in shared memory yet.
bool IsWorthSharing(const Call& call);

// A call with its large tensors in shared memory. Inputs were copied there.
struct PlacedCall {
  Call call;
  std::vector<std::shared_ptr<SharedRegion>> regions;
};

// Of one client. Thread-safe.
class LocalMemory {
 public:
  // Holds `limit_bytes` at most.
  explicit LocalMemory(int64_t limit_bytes);

  // Whether the server is to be asked for its socket now: Learn must follow.
  bool BeginAsking();
  // What the server says of itself. Connects to its socket, within a quarter of a second and until
  // `deadline`.
  void Learn(const absl::StatusOr<ServerInfo>& info, absl::Time deadline);

  // nullopt where there is no shared memory, or no room in it. `description` is
  // DescriptionOf(call). Outputs are in it where they are known. Waits for memory that is new: a
  // quarter of a second at most for other calls that wait for theirs, and then as long for the
  // server; not beyond `deadline`.
  std::optional<PlacedCall> Place(const Call& call, const std::string& description,
                                  absl::Time deadline);

  KnownOutputs& known_outputs() { return known_outputs_; }

  // A placed call succeeded; or was refused as it was and would not have been otherwise: no call
  // will be placed for a while, which is longer each time.
  void NoteSuccess();
  void NoteRefusal();

 private:
  std::shared_ptr<RegionPool> pool() const;
  void TurnOff();

  const std::shared_ptr<RegionBudget> budget_;
  KnownOutputs known_outputs_;
  mutable Mutex mutex_;
  std::shared_ptr<RegionPool> pool_ ABSL_GUARDED_BY(mutex_);  // null: there is none
  bool is_asking_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Duration pause_ ABSL_GUARDED_BY(mutex_);
  absl::Time off_until_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
};

}  // namespace opserve::client
