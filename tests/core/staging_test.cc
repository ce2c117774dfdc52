// Calls whose bytes are on their way to a device or back when nobody wants them any more.
#include <atomic>
#include <future>
#include <memory>
#include <utility>

#include "core/engine/engine.h"
#include "gtest/gtest.h"
#include "tests/support/calls.h"
#include "tests/support/fake_clock.h"
#include "tests/support/manual_device.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

using Work = ManualDevice::Work;

class StagingTest : public ::testing::Test {
 protected:
  ManualDevice& device() { return *manual_.device; }

  // How a call ends that is cancelled while this is held.
  absl::Status CancelDuring(Work kind) {
    const OpCase op_case = CallOf("Hardshrink", {Floats({1, 2, 3})}, {0.5});
    std::atomic<bool> cancelled = false;
    std::promise<absl::Status> ended;
    OneShot shot;
    shot.plan = *manual_.engine->MakePlan(ToNamedCall(op_case));
    shot.storages.emplace_back(std::span(op_case.inputs[0]->bytes()));
    shot.cancelled = [&] { return cancelled.load(); };
    shot.done = [&](const absl::StatusOr<Outputs>& outputs) { ended.set_value(outputs.status()); };
    device().Hold(kind);
    manual_.engine->Submit(std::move(shot));
    device().AwaitHeld(kind);
    cancelled = true;
    device().Release(kind);
    return ended.get_future().get();
  }

  FakeClock clock_;
  ManualEngine manual_ = MakeManualEngine(clock_);
};

TEST_F(StagingTest, ACallThatIsCancelledDuringItsUploadDoesNotRun) {
  EXPECT_EQ(CancelDuring(Work::kUpload).code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(device().begun(Work::kKernel), 0);
  EXPECT_EQ(device().begun(Work::kDownload), 0);
}

TEST_F(StagingTest, ACallThatIsCancelledDuringItsDownloadHasNoOutputs) {
  EXPECT_EQ(CancelDuring(Work::kDownload).code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(device().begun(Work::kKernel), 1);
}

}  // namespace
}  // namespace opserve::testing
