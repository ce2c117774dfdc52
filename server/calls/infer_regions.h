// The tensors of one infer request that are in regions which its client registered. Large inputs
// are read where they are, small ones and those of sparse objects copied before the call runs.
// Outputs are copied before it is answered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/fragments.h"
#include "core/device/memory_pool.h"
#include "core/engine/engine.h"
#include "server/calls/planned_call.h"
#include "server/open_inference/shared_tensors.h"
#include "server/shared_memory/named_region_table.h"

namespace opserve::server {

// More bytes of regions than this are found on a worker: they take tens of microseconds. An input
// of more is read where it is.
inline constexpr size_t kReadHereRegionBytes = size_t{64} << 10;

// Who asks, where this machine can tell.
using AskLocalUser = absl::FunctionRef<absl::StatusOr<LocalUser>()>;

// PERMISSION_DENIED, or who `user` is: that of the connection which a request came by.
absl::StatusOr<LocalUser> RequireLocalUser(std::optional<uid_t> user, ClientId token);

// Of one request; does nothing for a request that has no such tensors. Not thread-safe.
class InferRegions {
 public:
  // Removes the parameters that name regions from `call`, a request as SplitInferHeader leaves it,
  // and finds the regions. Without a `table` (nullptr) DecodeInferRequest refuses the parameters.
  // Errors: SeparateShared's, `ask`'s, 161002 naming the tensor for a region that the client has
  // not or that is too short, and for more bytes of inputs than any machine has.
  absl::Status Find(const NamedRegionTable* table, AskLocalUser ask, std::string& call);

  // Those that ReadInputs will copy, or look up.
  size_t input_bytes() const { return input_bytes_; }
  // Puts the inputs among the raw entries of those that came in the message. They stay until Clear;
  // what is read where it is may change until then.
  // Errors: 161002 naming raw_input_contents for more or fewer of those, or the tensor; the pool's.
  absl::Status ReadInputs(MemoryPool& pool, std::vector<Fragments>& raw);

  // Whether each output has room. 161002 naming it.
  absl::Status CheckOutputs(const PlannedCall& planned) const;
  bool IsShared(size_t entry) const;
  // Of the outputs that are in regions; they are not in the answer.
  size_t OutputBytes(const PlannedCall& planned) const;
  // About how long WriteOutputs takes.
  absl::Duration WriteTime(const PlannedCall& planned) const;
  // Clears the inputs and leaves the outputs empty. 161002 naming the output, or an input whose
  // object became shorter before the inputs were cleared.
  absl::Status WriteOutputs(const PlannedCall& planned, Outputs& outputs);

  // Frees the inputs.
  void Clear();

 private:
  struct Place {
    SharedTensor tensor;
    std::shared_ptr<const NamedRegion> region;
    std::unique_ptr<const GuardedMapping> mapping;  // of an input that is read where it is
  };

  // The bytes of an input.
  absl::StatusOr<std::span<const std::byte>> ReadInput(MemoryPool& pool, Place& place);
  static absl::StatusOr<std::vector<Place>> FindAll(const NamedRegionTable& table,
                                                    const LocalUser& who,
                                                    std::vector<SharedTensor> tensors);

  size_t request_inputs_ = 0;
  size_t input_bytes_ = 0;
  std::vector<Place> from_;
  std::vector<Place> to_;
  std::vector<PooledBuffer> inputs_;
  absl::Status cut_;  // of an input, once it is cleared
};

}  // namespace opserve::server
