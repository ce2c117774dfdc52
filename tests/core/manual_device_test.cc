// The test device does what it promises, and one-shot calls of every operator work on it: on a
// device whose memory the host cannot follow.
#include "tests/support/manual_device.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <future>
#include <vector>

#include "core/op/op_table.h"
#include "gtest/gtest.h"
#include "tests/support/compare.h"
#include "tests/support/errors.h"
#include "tests/support/fake_clock.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"
#include "tests/support/unreadable_device.h"

namespace opserve::testing {
namespace {

using Work = ManualDevice::Work;

TEST(ManualDeviceTest, TheHostCannotFollowItsAddresses) {
  FakeClock clock;
  ManualDevice device({}, clock);
  const PooledBuffer buffer = *device.memory().Acquire(64);
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(::pipe(pipe_ends.data()), 0);
  // The kernel follows the address for us, and says what a fault would.
  EXPECT_EQ(::write(pipe_ends[1], buffer.data(), 1), -1);
  EXPECT_EQ(errno, EFAULT);
  for (const int end : pipe_ends) ::close(end);
}

TEST(ManualDeviceTest, AddressesOfTheHostAreRefused) {
  FakeClock clock;
  ManualDevice device({}, clock);
  std::vector<std::byte> host(64);
  const MemoryRange range{.start = host.data(), .row_bytes = 64};
  const Fragments bytes(host);
  EXPECT_EQ(GetErrorDetail(device.Upload(range, bytes))->reason, ErrorReason::kInternal);
  EXPECT_EQ(GetErrorDetail(device.Download(range, 0, host))->reason, ErrorReason::kInternal);
  EXPECT_EQ(GetErrorDetail(device.Copy(range, range))->reason, ErrorReason::kInternal);
  EXPECT_EQ(GetErrorDetail(device.Fill(range, bytes.pieces()[0].first(1)))->reason,
            ErrorReason::kInternal);
}

TEST(ManualDeviceTest, WorkIsHeldAndFailsAsItIsTold) {
  FakeClock clock;
  ManualDevice device({}, clock);
  const PooledBuffer buffer = *device.memory().Acquire(64);
  const MemoryRange range{.start = buffer.data(), .row_bytes = 64};
  const std::array pattern = {std::byte{7}};
  device.Hold(Work::kFill);
  device.FailNext(Work::kFill);
  auto held = std::async(std::launch::async, [&] { return device.Fill(range, pattern); });
  device.AwaitHeld(Work::kFill);
  EXPECT_EQ(device.begun(Work::kFill), 0);
  device.Release(Work::kFill);
  EXPECT_EQ(GetErrorDetail(held.get())->reason, ErrorReason::kDeviceError);
  EXPECT_THAT(device.Fill(range, pattern), IsOk());
  EXPECT_EQ(device.begun(Work::kFill), 2);
}

TEST(UnreadableMemoryTest, WhatIsGivenBackGrowsTogether) {
  UnreadableMemory memory(1024);
  std::array<std::byte*, 4> parts{};
  for (std::byte*& part : parts) part = memory.Allocate(256);
  EXPECT_EQ(memory.Allocate(1), nullptr);
  for (const size_t i : {0, 2, 3, 1}) memory.Free(parts[i], 256);
  EXPECT_EQ(memory.Allocate(1024), parts[0]);
}

class OneShotOnADeviceTest : public ::testing::TestWithParam<const Operator*> {
 protected:
  FakeClock clock_;
  ManualEngine manual_ = MakeManualEngine(clock_);
  std::unique_ptr<Engine> host_ = MakeEngine(2);
};

TEST_P(OneShotOnADeviceTest, GivesTheBitsOfTheCpu) {
  const std::vector<OpCase> cases = CasesOf(*GetParam());
  for (size_t n = 0; n < cases.size(); n += 2) {
    const OpCase& op_case = cases[n];
    SCOPED_TRACE(op_case.label);
    const auto there = testing::Run(*manual_.engine, op_case);
    const auto here = testing::Run(*host_, op_case);
    ASSERT_TRUE(there.ok() && here.ok()) << there.status() << here.status();
    ASSERT_EQ(there->size(), here->size());
    for (size_t i = 0; i < here->size(); ++i) ASSERT_TRUE(SameBits((*there)[i], (*here)[i])) << i;
  }
  EXPECT_EQ(manual_.device->memory().stats().used_bytes, 0);
  EXPECT_EQ(manual_.device->host_memory().stats().used_bytes, 0);
}

TEST_P(OneShotOnADeviceTest, ADeviceThatFailsIsTheCallsError) {
  const OpCase op_case = CasesOf(*GetParam())[0];
  for (const Work kind : {Work::kUpload, Work::kKernel, Work::kDownload}) {
    manual_.device->FailNext(kind);
    ExpectError(testing::Run(*manual_.engine, op_case).status(), ErrorReason::kDeviceError,
                "device");
  }
  EXPECT_THAT(testing::Run(*manual_.engine, op_case), IsOk());
  EXPECT_EQ(manual_.device->memory().stats().used_bytes, 0);
}

INSTANTIATE_TEST_SUITE_P(Operators, OneShotOnADeviceTest, ::testing::ValuesIn(AllOperators()),
                         [](const auto& op) { return std::string(op.param->name); });

// The thread that brings a call does not wait for the device.
TEST(ManualEngineTest, SubmitDoesNotBlock) {
  FakeClock clock;
  const ManualEngine manual = MakeManualEngine(clock);
  const OpCase op_case = CasesOf(*AllOperators()[0])[0];
  manual.device->Hold(Work::kUpload);
  std::promise<absl::Status> ended;
  OneShot shot;
  shot.plan = *manual.engine->MakePlan(ToNamedCall(op_case));
  for (const auto& input : op_case.inputs) shot.storages.emplace_back(std::span(input->bytes()));
  shot.done = [&](const absl::StatusOr<Outputs>& outputs) { ended.set_value(outputs.status()); };
  manual.engine->Submit(std::move(shot));
  manual.device->AwaitHeld(Work::kUpload);
  manual.device->Release(Work::kUpload);
  EXPECT_THAT(ended.get_future().get(), IsOk());
}

}  // namespace
}  // namespace opserve::testing
