// What executes calls: memory, workers and a kernel for each operator that it has.
#pragma once

#include <string>

#include "core/base/parallel.h"
#include "core/device/kernel.h"
#include "core/device/memory_pool.h"
#include "core/op/operator.h"
#include "core/op/profile.h"

namespace opserve {

struct DeviceInfo {
  std::string name;         // "cpu:0"
  std::string kind;         // "cpu"
  std::string description;  // "2 threads, AVX3"
  Profile profile = Profile::kHost;
  int threads = 1;
};

// Thread-safe.
class Device {
 public:
  virtual ~Device() = default;

  virtual const DeviceInfo& info() const = 0;
  // nullptr when this device cannot run the operator at all; the profile is checked by PlanCall.
  virtual const Kernel* FindKernel(const Operator& op) const = 0;
  virtual MemoryPool& memory() = 0;
  virtual WorkerPool& workers() = 0;
};

}  // namespace opserve
