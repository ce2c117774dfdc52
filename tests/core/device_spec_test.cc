#include "core/base/op_error.h"
#include "core/engine/engine.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace opserve {
namespace {

TEST(DeviceSpecTest, ReadsOptions) {
  const absl::StatusOr<DeviceSpec> plain = ParseDeviceSpec("cpu");
  ASSERT_THAT(plain, testing::IsOk());
  EXPECT_EQ(plain->threads, 0);
  EXPECT_EQ(plain->profile, Profile::kHost);
  const absl::StatusOr<DeviceSpec> full = ParseDeviceSpec("cpu,threads=3,profile=atlas-training");
  ASSERT_THAT(full, testing::IsOk());
  EXPECT_EQ(full->threads, 3);
  EXPECT_EQ(full->profile, Profile::kAtlasTraining);
}

TEST(DeviceSpecTest, ReadsNpus) {
  const absl::StatusOr<DeviceSpec> all = ParseDeviceSpec("ascend,threads=8,profile=atlas-a2");
  ASSERT_THAT(all, testing::IsOk());
  EXPECT_EQ(all->kind, "ascend");
  EXPECT_EQ(all->profile, Profile::kAtlasA2);
  EXPECT_TRUE(all->ids.empty());
  EXPECT_EQ(ParseDeviceSpec("ascend:2")->ids, std::vector<int>{2});
  EXPECT_EQ(ParseDeviceSpec("ascend:1-3")->ids, (std::vector<int>{1, 2, 3}));
}

TEST(DeviceSpecTest, RefusesTheRest) {
  for (const char* text :
       {"", "gpu", "cpu,", "cpu,threads=0", "cpu,threads=x", "cpu,threads=99999",
        "cpu,profile=atlas", "cpu:0", "ascend:", "ascend:x", "ascend:-1", "ascend:3-1", "ascend:1-",
        "ascend:0-9999", "ascendant", "cpu,thread=2", "cpu,threads"}) {
    const absl::Status status = ParseDeviceSpec(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    ASSERT_TRUE(GetErrorDetail(status).has_value()) << text;
    EXPECT_FALSE(GetErrorDetail(status)->got.empty()) << text;
  }
}

}  // namespace
}  // namespace opserve
