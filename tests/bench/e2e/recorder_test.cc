#include "tests/bench/e2e/recorder.h"

#include <gtest/gtest.h>

namespace opserve::bench {
namespace {

const absl::Time kStart = absl::UnixEpoch() + absl::Hours(1);

absl::Time At(double seconds) { return kStart + absl::Seconds(seconds); }

Recorder::Layout TenSeconds() {
  return {.start = kStart, .end = At(10), .phase_ends = {}, .interval = absl::ZeroDuration()};
}

TEST(RecorderTest, CountsWhatBelongsInside) {
  Recorder recorder(TenSeconds());
  for (const double at : {-0.1, 0.0, 5.0, 9.9, 10.0})
    recorder.Record(At(at), absl::Milliseconds(1), absl::OkStatus());
  EXPECT_EQ(recorder.total().served.count(), 3);
}

TEST(RecorderTest, MessagesAcrossTheEdgesCountInPart) {
  Recorder recorder(TenSeconds());
  recorder.Record(At(1), absl::Seconds(4), absl::OkStatus());   // a quarter
  recorder.Record(At(5), absl::Seconds(4), absl::OkStatus());   // all
  recorder.Record(At(11), absl::Seconds(2), absl::OkStatus());  // a half
  recorder.Record(At(13), absl::Seconds(2), absl::OkStatus());  // nothing
  EXPECT_NEAR(recorder.ServedPerSecond(), 1.75 / 10, 1e-6);
}

TEST(RecorderTest, OneMessageThatLastsLongerThanTheWindow) {
  Recorder recorder(TenSeconds());
  recorder.Record(At(15), absl::Seconds(40), absl::OkStatus());
  EXPECT_NEAR(recorder.ServedPerSecond(), 1.0 / 40, 1e-6);
}

TEST(RecorderTest, FailuresAreCountedByCode) {
  Recorder recorder(TenSeconds());
  recorder.Record(At(1), absl::Seconds(1), absl::ResourceExhaustedError("full"));
  recorder.Record(At(2), absl::Seconds(3), absl::ResourceExhaustedError("full"));
  recorder.Record(At(3), absl::Seconds(1), absl::DeadlineExceededError("late"));
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
  for (const double at : {0.0, 3.9, 4.0, 9.9})
    recorder.Record(At(at), absl::Milliseconds(1), absl::OkStatus());
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
  EXPECT_TRUE(recorder.fault().ok());
  recorder.Fault(absl::InternalError("first"));
  recorder.Fault(absl::UnavailableError("second"));
  EXPECT_EQ(recorder.fault(), absl::InternalError("first"));
}

}  // namespace
}  // namespace opserve::bench
