// An engine on one NPU, which is libopserve_acl with guarded memory.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "core/engine/engine.h"
#include "gtest/gtest.h"
#include "tests/support/stand_in.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {

class AscendFixture : public ::testing::Test {
 public:
  // Nothing that a call made outlives it: what is alive afterwards is the device's own.
  ~AscendFixture() override {
    SetFaults("");
    for (int kind = 0; kind <= 5; ++kind) EXPECT_EQ(CountLive(kind), 0) << "kind " << kind;
  }

 protected:
  AscendFixture() {
    ::setenv("OPSERVE_ACL_GUARD_MEMORY", "1", 1);
    ::setenv("OPSERVE_ACL_DEVICES", "cpu,threads=2", 1);
    EngineOptions options;
    options.devices = {DeviceSpec{.kind = "ascend", .threads = 2, .ids = {0}}};
    options.memory_limit_bytes = kMemoryBytes;
    options.ascend_library_paths = {StandInFolder()};
    absl::StatusOr<std::unique_ptr<Engine>> engine = Engine::Create(options);
    EXPECT_THAT(engine, IsOk());
    if (engine.ok()) engine_ = *std::move(engine);
  }
  void SetUp() override { ASSERT_NE(engine_, nullptr); }

  Device& device() { return *engine_->devices()[0]; }

  // The stand-in's aids.
  static void SetFaults(const char* faults) {
    using Function = int(const char*);
    EXPECT_EQ(reinterpret_cast<Function*>(Symbol("opserveAclSetFaults"))(faults), 0) << faults;
  }
  static int64_t CountLive(int kind) {
    using Function = int64_t(int);
    return reinterpret_cast<Function*>(Symbol("opserveAclCountLive"))(kind);
  }

  static constexpr int64_t kMemoryBytes = int64_t{256} << 20;

  std::unique_ptr<Engine> engine_;

 private:
  // Of the library that the engine has loaded.
  static void* Symbol(const char* name) {
    static void* const library =
        ::dlopen((StandInFolder() + "/libascendcl.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    return ::dlsym(library, name);
  }
};

}  // namespace opserve::testing
