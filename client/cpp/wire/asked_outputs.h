// What a call's caller knows of its outputs before they come.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <opserve/call.h>
#include <opserve/device_tensor.h>

#include "core/tensor/shape.h"

namespace opserve::client {

// One that the call masks out may come with shape [0] nevertheless.
struct AskedOutput {
  std::string name;
  DType dtype = DType::kUndefined;  // kUndefined: whatever the operator infers
  std::optional<Dims> shape;        // nullopt: whatever the operator infers
  SharedTensorView shared;          // where it is to be written, if that is in shared memory
};
using AskedOutputs = std::vector<AskedOutput>;

AskedOutputs AskedOf(const Call& call);
AskedOutputs AskedOf(const DeviceCall& call);

}  // namespace opserve::client
