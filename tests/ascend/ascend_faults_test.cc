// What becomes of calls when the NPU does not do what it should.
#include "gmock/gmock.h"
#include "tests/ascend/ascend_fixture.h"
#include "tests/support/calls.h"
#include "tests/support/errors.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class AscendFaultsTest : public AscendFixture {
 protected:
  static OpCase Small() {
    return CallOf("L1LossBackward", {Floats({1, 2}), Floats({0, 9}), Floats({1, 1})}, {int64_t{0}});
  }
  void ExpectWorks() {
    const absl::StatusOr<std::vector<TestTensor>> outputs = testing::Run(*engine_, Small());
    ASSERT_THAT(outputs, IsOk());
    EXPECT_THAT((*outputs)[0].Values(), ElementsAre(-1, 2));
    EXPECT_THAT(device().health(), IsOk());
    EXPECT_EQ(device().memory().stats().used_bytes, 0);
  }
  absl::Status RunWith(const char* faults) {
    SetFaults(faults);
    return testing::Run(*engine_, Small()).status();
  }
};

TEST_F(AscendFaultsTest, NoMemoryIsALimitOfResources) {
  const absl::Status status = RunWith("malloc:1");
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  ExpectWorks();
}

TEST_F(AscendFaultsTest, ATransferThatFailsIsTheCallsError) {
  const absl::Status status = RunWith("memcpy:1");
  ExpectError(status, ErrorReason::kDeviceError, "device");
  EXPECT_THAT(status.message(), AllOf(HasSubstr("aclrtMemcpy gave 507015"), HasSubstr("memcpy")));
  ExpectWorks();
}

TEST_F(AscendFaultsTest, PhaseOneFails) {
  const absl::Status status = RunWith("phase1:1");
  ExpectError(status, ErrorReason::kDeviceError, "device");
  EXPECT_THAT(status.message(), AllOf(HasSubstr("aclnnL1LossBackwardGetWorkspaceSize gave 561103"),
                                      HasSubstr("injected fault: phase1")));
  ExpectError(RunWith("phase1:1=161002"), kParamInvalid, "device");
  ExpectError(RunWith("phase1:1=161001"), kParamNullptr, "device");
  ExpectWorks();
}

TEST_F(AscendFaultsTest, PhaseTwoFails) {
  const absl::Status status = RunWith("phase2:1");
  ExpectError(status, ErrorReason::kDeviceError, "device");
  EXPECT_THAT(status.message(), HasSubstr("aclnnL1LossBackward gave 361001"));
  ExpectWorks();
}

TEST_F(AscendFaultsTest, AKernelFailsAndTheDeviceAnswers) {
  const absl::Status status = RunWith("kernel:1");
  ExpectError(status, ErrorReason::kDeviceError, "device");
  EXPECT_THAT(status.message(), HasSubstr("aclrtSynchronizeStreamWithTimeout gave 507015"));
  ExpectWorks();
}

TEST_F(AscendFaultsTest, BadDataIsOneCallsError) {
  const OpCase bad = CallOf("CtcLoss",
                            {TestTensor::Full(DType::kFloat32, {2, 1, 3}, -1),
                             TestTensor::Of(DType::kInt64, {1, 1}, {7})},
                            {std::vector<int64_t>{2}, std::vector<int64_t>{1}, int64_t{0}, false});
  const absl::Status status = testing::Run(*engine_, bad).status();
  ExpectError(status, ErrorReason::kDeviceError, "device");
  EXPECT_THAT(status.message(), HasSubstr("targets"));
  ExpectWorks();
}

TEST_F(AscendFaultsTest, WorkThatDoesNotEndTakesTheDeviceAway) {
  const absl::Status status = RunWith("sync_timeout:1");
  EXPECT_THAT(status.message(), HasSubstr("507046"));
  SetFaults("");
  EXPECT_FALSE(device().health().ok());
  const absl::Status later = testing::Run(*engine_, Small()).status();
  ExpectError(later, ErrorReason::kDeviceLost, "device");
  EXPECT_THAT(later.message(), AllOf(HasSubstr("want a device that works"), HasSubstr("ascend:0"),
                                     HasSubstr("507046")));
}

TEST_F(AscendFaultsTest, ALostDeviceStaysLost) {
  ExpectWorks();
  const absl::Status status = RunWith("device_lost:1");
  ExpectError(status, ErrorReason::kDeviceLost, "device");
  EXPECT_FALSE(device().health().ok());
  SetFaults("");
  EXPECT_FALSE(testing::Run(*engine_, Small()).ok()) << "nobody asks it any more";
  EXPECT_EQ(device().memory().stats().used_bytes, 0);
}

}  // namespace
}  // namespace opserve::testing
