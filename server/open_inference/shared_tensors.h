// The tensors of an infer request that lie in regions of shared memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace opserve::server {

// Whether a tensor's parameter says where it is.
bool SaysWhere(std::string_view parameter);

// Where one of them is.
struct SharedTensor {
  size_t index = 0;  // among the request's inputs, or its outputs
  std::string name;  // for errors
  std::string region;
  uint64_t offset = 0;
  uint64_t byte_size = 0;
};

// A request without what says where they are: the same bytes as if they came in the message, and
// nothing that is one client's.
struct SharedTensors {
  std::string call;
  size_t inputs = 0;                        // that the request has, in the message or shared
  std::vector<SharedTensor> shared_inputs;  // in the request's order, as the next
  std::vector<SharedTensor> shared_outputs;
};

// Whether a request may have such tensors: SeparateShared finds none where it has not.
bool MentionsSharedMemory(std::string_view call);

// Parts a request that SplitInferHeader made. Errors name the tensor: 161001 for a region without a
// size or a size without a region; 161002 for a value of another kind or below zero, and for
// an input that has contents as well.
absl::StatusOr<SharedTensors> SeparateShared(std::string_view call);

}  // namespace opserve::server
