#include "core/base/op_error.h"
#include "core/engine/engine.h"
#include "gtest/gtest.h"

namespace opserve {
namespace {

TEST(DeviceSpecTest, ReadsOptions) {
  const absl::StatusOr<DeviceSpec> plain = ParseDeviceSpec("cpu");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->threads, 0);
  EXPECT_EQ(plain->profile, Profile::kHost);
  const absl::StatusOr<DeviceSpec> full = ParseDeviceSpec("cpu,threads=3,profile=atlas-training");
  ASSERT_TRUE(full.ok()) << full.status();
  EXPECT_EQ(full->threads, 3);
  EXPECT_EQ(full->profile, Profile::kAtlasTraining);
}

TEST(DeviceSpecTest, RefusesTheRest) {
  for (const char* text : {"", "gpu", "cpu,", "cpu,threads=0", "cpu,threads=x", "cpu,threads=99999",
                           "cpu,profile=atlas", "cpu,thread=2", "cpu,threads"}) {
    const absl::Status status = ParseDeviceSpec(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    ASSERT_TRUE(GetErrorDetail(status).has_value()) << text;
    EXPECT_FALSE(GetErrorDetail(status)->got.empty()) << text;
  }
}

}  // namespace
}  // namespace opserve
