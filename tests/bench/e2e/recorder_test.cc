#include "tests/bench/e2e/recorder.h"
#include "tests/support/status_matchers.h"

#include <gtest/gtest.h>

namespace opserve::bench {
namespace {

const absl::Time kStart = absl::UnixEpoch() + absl::Hours(1);

absl::Time At(double seconds) { return kStart + absl::Seconds(seconds); }

Recorder::Layout TenSeconds() {
  return {.start = kStart, .end = At(10), .phase_ends = {}, .interval = absl::ZeroDuration()};
}

TEST(RecorderTest, ClosedLoopsCountWhatWasUnderWay) {
  Recorder recorder(TenSeconds());
  recorder.Record(At(-2), At(-1), absl::OkStatus());
  recorder.Record(At(-1), At(1), absl::OkStatus());
  recorder.Record(At(3), At(4), absl::OkStatus());
  recorder.Record(At(9), At(12), absl::OkStatus());
  recorder.Record(At(10), At(11), absl::OkStatus());
  EXPECT_EQ(recorder.total().served.count(), 3);
  EXPECT_EQ(recorder.total().served.max(), absl::Seconds(3));
}

TEST(RecorderTest, OpenLoopsCountWhatWasDue) {
  Recorder recorder(TenSeconds());
  for (const double due : {-0.1, 0.0, 9.9, 10.0})
    recorder.RecordDue(At(due), At(20), absl::OkStatus());
  EXPECT_EQ(recorder.total().served.count(), 2);
  EXPECT_EQ(recorder.total().served.max(), absl::Seconds(20));
}

TEST(RecorderTest, MessagesAcrossTheEdgesCountInPart) {
  Recorder recorder(TenSeconds());
  recorder.Record(At(-3), At(1), absl::OkStatus());   // a quarter
  recorder.Record(At(1), At(5), absl::OkStatus());    // all
  recorder.Record(At(9), At(11), absl::OkStatus());   // a half
  recorder.Record(At(11), At(13), absl::OkStatus());  // nothing
  EXPECT_NEAR(recorder.ServedPerSecond(), 1.75 / 10, 1e-6);
}

TEST(RecorderTest, OneMessageThatLastsLongerThanTheWindow) {
  Recorder recorder(TenSeconds());
  recorder.Record(At(-25), At(15), absl::OkStatus());
  EXPECT_EQ(recorder.total().served.count(), 1);
  EXPECT_NEAR(recorder.ServedPerSecond(), 1.0 / 40, 1e-6);
}

TEST(RecorderTest, FailuresAreCountedByCode) {
  Recorder recorder(TenSeconds());
  recorder.Record(At(0), At(1), absl::ResourceExhaustedError("full"));
  recorder.Record(At(1), At(4), absl::ResourceExhaustedError("full"));
  recorder.Record(At(2), At(3), absl::DeadlineExceededError("late"));
  const Tally& total = recorder.total();
  EXPECT_EQ(total.served.count(), 0);
  EXPECT_EQ(total.failed.max(), absl::Seconds(3));
  EXPECT_EQ(total.codes[static_cast<size_t>(absl::StatusCode::kResourceExhausted)].load(), 2);
  EXPECT_EQ(total.codes[static_cast<size_t>(absl::StatusCode::kDeadlineExceeded)].load(), 1);
  EXPECT_EQ(recorder.ServedPerSecond(), 0);
}

TEST(RecorderTest, PhasesAndIntervalsAreByMoment) {
  Recorder recorder({.start = kStart,
                     .end = At(10),
                     .phase_ends = {At(4), At(10)},
                     .interval = absl::Seconds(3)});
  ASSERT_EQ(recorder.phases().size(), 2U);
  ASSERT_EQ(recorder.intervals().size(), 4U);
  for (const double due : {0.0, 3.9, 4.0, 9.9})
    recorder.RecordDue(At(due), At(due), absl::OkStatus());
  recorder.RecordUnsent(At(4));
  EXPECT_EQ(recorder.phases()[0]->served.count(), 2);
  EXPECT_EQ(recorder.phases()[1]->served.count(), 2);
  EXPECT_EQ(recorder.phases()[1]->unsent.load(), 1);
  EXPECT_EQ(recorder.intervals()[0]->served.count(), 1);
  EXPECT_EQ(recorder.intervals()[1]->served.count(), 2);
  EXPECT_EQ(recorder.intervals()[2]->served.count(), 0);
  EXPECT_EQ(recorder.intervals()[3]->served.count(), 1);
}

TEST(RecorderTest, TheFirstFaultStays) {
  Recorder recorder(TenSeconds());
  EXPECT_THAT(recorder.fault(), testing::IsOk());
  recorder.Fault(absl::InternalError("first"));
  recorder.Fault(absl::UnavailableError("second"));
  EXPECT_EQ(recorder.fault(), absl::InternalError("first"));
}

}  // namespace
}  // namespace opserve::bench
