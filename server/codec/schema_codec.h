// What the server serves about itself: operators' schemas, devices, element types.
#pragma once

#include "core/device/device.h"
#include "core/op/operator.h"
#include "opserve/v1/operator_service.pb.h"

namespace opserve::server {

v1::OperatorSchema EncodeSchema(const Operator& op);

// With the state of its memory right now and the names of the operators that run on it under its
// profile.
v1::Device EncodeDevice(Device& device);

v1::MemoryInfo EncodeMemory(const MemoryPool::Stats& stats);

}  // namespace opserve::server
