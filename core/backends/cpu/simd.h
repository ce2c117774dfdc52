// What every file of vector kernels includes before Highway. The targets worth having are AVX2,
// AVX-512 (AVX3), those of other architectures, and one scalar fallback: below AVX2 Highway's half
// conversions are not right, and AVX3_DL adds nothing. A sanitized build leaves out what its
// machine cannot run (OPSERVE_IDLE_TARGETS: cmake/opserve.cmake).
#pragma once

#ifndef OPSERVE_IDLE_TARGETS
#define OPSERVE_IDLE_TARGETS 0
#endif

#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | OPSERVE_IDLE_TARGETS)

#include "absl/status/status.h"
#include "core/device/kernel.h"
#include "core/op/op_call.h"

namespace opserve::cpu {

inline size_t NoWorkspace(const OpCall& /*call*/) { return 0; }

}  // namespace opserve::cpu

// Defines kXKernel, in opserve::cpu, of a function void X(const KernelArgs&) that the file has for
// each target. `Workspace` is Kernel::workspace_bytes. Under #if HWY_ONCE.
#define OPSERVE_CPU_KERNEL(X, Workspace)                                                \
  HWY_EXPORT(X);                                                                        \
  extern constinit const Kernel k##X##Kernel = {Workspace, [](const KernelArgs& args) { \
                                                  HWY_DYNAMIC_DISPATCH(X)(args);        \
                                                  return absl::OkStatus();              \
                                                }}
