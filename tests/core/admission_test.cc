#include "core/engine/load/admission.h"

#include <utility>
#include <vector>

#include "core/base/op_error.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace opserve {
namespace {

using Refusal = Admission::Refusal;

const absl::Time kNow = absl::FromUnixSeconds(1000);

Admission::Demand Demand(int64_t bytes, absl::Duration time) {
  return {.bytes = bytes, .time = time, .now = kNow};
}

class AdmissionTest : public ::testing::Test {
 protected:
  // Keeps the place of an admitted call in `places`.
  absl::Status Admit(const Admission::Demand& demand) {
    absl::StatusOr<Admission::Place> place = admission.Admit(demand, refusal);
    absl::Status status = place.status();
    if (place.ok()) places.push_back(*std::move(place));
    return status;
  }

  std::string Parameter(const absl::Status& status) { return GetErrorDetail(status)->parameter; }

  Admission admission{{.max_calls = 3, .max_bytes = 100, .max_wait = absl::Milliseconds(10)},
                      /*threads=*/2};
  std::vector<Admission::Place> places;
  Refusal refusal = Refusal::kNone;
};

TEST_F(AdmissionTest, ACallThatIsAloneIsAdmittedHoweverLarge) {
  EXPECT_THAT(Admit(Demand(1000, absl::Hours(1))), testing::IsOk());
  EXPECT_EQ(admission.load().calls, 1);
  EXPECT_EQ(admission.load().bytes, 1000);
  places.clear();
  EXPECT_EQ(admission.load().calls, 0);
  EXPECT_EQ(admission.load().bytes, 0);
  EXPECT_EQ(admission.load().expected_wait, absl::ZeroDuration());
}

TEST_F(AdmissionTest, CallsAreBounded) {
  for (int i = 0; i < 3; ++i) EXPECT_THAT(Admit(Demand(1, absl::ZeroDuration())), testing::IsOk());
  const absl::Status status = Admit(Demand(1, absl::ZeroDuration()));
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Parameter(status), "calls in flight");
  EXPECT_EQ(refusal, Refusal::kCalls);
  EXPECT_GE(GetErrorDetail(status)->retry_after, absl::Milliseconds(1));
  places.pop_back();
  EXPECT_THAT(Admit(Demand(1, absl::ZeroDuration())), testing::IsOk());
  EXPECT_EQ(refusal, Refusal::kNone);
}

TEST_F(AdmissionTest, BytesAreBounded) {
  EXPECT_THAT(Admit(Demand(60, absl::ZeroDuration())), testing::IsOk());
  EXPECT_THAT(Admit(Demand(40, absl::ZeroDuration())), testing::IsOk());
  const absl::Status status = Admit(Demand(1, absl::ZeroDuration()));
  EXPECT_EQ(Parameter(status), "bytes in flight");
  EXPECT_EQ(refusal, Refusal::kBytes);
  EXPECT_EQ(GetErrorDetail(status)->got, "1");
}

TEST_F(AdmissionTest, TheExpectedWaitIsBounded) {
  EXPECT_THAT(Admit(Demand(1, absl::Milliseconds(30))), testing::IsOk());
  EXPECT_EQ(admission.load().expected_wait, absl::Milliseconds(15));  // two threads
  const absl::Status status = Admit(Demand(1, absl::Milliseconds(1)));
  EXPECT_EQ(Parameter(status), "queue");
  EXPECT_EQ(refusal, Refusal::kWait);
  EXPECT_EQ(GetErrorDetail(status)->retry_after, absl::Milliseconds(10));
}

TEST_F(AdmissionTest, WhoComputesLongMayWaitAsLongBesides) {
  EXPECT_THAT(Admit(Demand(1, absl::Milliseconds(30))), testing::IsOk());
  EXPECT_THAT(Admit(Demand(1, absl::Milliseconds(6))), testing::IsOk());
  const absl::Status status = Admit(Demand(1, absl::Milliseconds(6)));
  EXPECT_EQ(refusal, Refusal::kWait);
  EXPECT_EQ(GetErrorDetail(status)->want, "a wait of at most 16ms (max_queue_wait)");
  EXPECT_THAT(Admit(Demand(1, absl::Milliseconds(9))), testing::IsOk());
}

TEST_F(AdmissionTest, ADeadlineThatTheWaitOutlastsIsRefused) {
  EXPECT_THAT(Admit(Demand(1, absl::Milliseconds(10))), testing::IsOk());
  Admission::Demand demand = Demand(1, absl::Milliseconds(1));
  demand.deadline = kNow + absl::Milliseconds(4);
  const absl::Status status = Admit(demand);
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(refusal, Refusal::kDeadline);
  EXPECT_EQ(GetErrorDetail(status)->retry_after, std::nullopt);
  demand.deadline = kNow + absl::Milliseconds(6);
  EXPECT_THAT(Admit(demand), testing::IsOk());
}

TEST_F(AdmissionTest, WaitsThatWereLongerThanExpectedMakeItExpectMore) {
  EXPECT_THAT(Admit(Demand(1, absl::Milliseconds(10))), testing::IsOk());
  const absl::Duration before = admission.load().expected_wait;
  for (int i = 0; i < 100; ++i) {
    absl::StatusOr<Admission::Place> place =
        admission.Admit(Demand(1, absl::ZeroDuration()), refusal);
    if (!place.ok()) break;
    place->Start(kNow + absl::Milliseconds(10));
    EXPECT_EQ(place->waited(), absl::Milliseconds(10));
  }
  EXPECT_GT(admission.load().expected_wait, 1.5 * before);
}

constexpr ClientId kGreedy{1};
constexpr ClientId kOther{2};

Admission::Demand Of(ClientId client, int64_t bytes, absl::Duration time) {
  Admission::Demand demand = Demand(bytes, time);
  demand.client = client;
  return demand;
}

class SharedAdmissionTest : public AdmissionTest {
 protected:
  absl::Status AdmitTo(Admission& shared, const Admission::Demand& demand) {
    absl::StatusOr<Admission::Place> place = shared.Admit(demand, refusal);
    absl::Status status = place.status();
    if (place.ok()) places_.push_back(*std::move(place));
    return status;
  }

  Admission shared_{
      {.max_calls = 8, .max_bytes = 100, .max_wait = absl::Milliseconds(10), .client_share = 0.5},
      /*threads=*/2};
  std::vector<Admission::Place> places_;
};

TEST_F(SharedAdmissionTest, OneClientsLongCallsKeepNoOtherOut) {
  EXPECT_THAT(AdmitTo(shared_, Of(kGreedy, 1, absl::Hours(100))), testing::IsOk());
  EXPECT_EQ(AdmitTo(shared_, Of(kGreedy, 1, absl::Milliseconds(1))).code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(refusal, Refusal::kWait);
  EXPECT_THAT(AdmitTo(shared_, Of(kOther, 1, absl::Milliseconds(8))), testing::IsOk());
  // Its own work, and as much of the other's, take their turns on two threads.
  EXPECT_THAT(AdmitTo(shared_, Of(kOther, 1, absl::Milliseconds(8))), testing::IsOk());
  EXPECT_EQ(AdmitTo(shared_, Of(kOther, 1, absl::Milliseconds(8))).code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(refusal, Refusal::kWait);
}

TEST_F(SharedAdmissionTest, NoClientHasAllCalls) {
  for (int i = 0; i < 4; ++i)
    EXPECT_THAT(AdmitTo(shared_, Of(kGreedy, 1, absl::ZeroDuration())), testing::IsOk());
  const absl::Status status = AdmitTo(shared_, Of(kGreedy, 1, absl::ZeroDuration()));
  EXPECT_EQ(refusal, Refusal::kCalls);
  EXPECT_EQ(GetErrorDetail(status)->want, "at most 4 calls of one client, of 8 (client_share)");
  EXPECT_THAT(AdmitTo(shared_, Of(kOther, 1, absl::ZeroDuration())), testing::IsOk());
}

TEST_F(SharedAdmissionTest, NoClientHasAllBytes) {
  EXPECT_THAT(AdmitTo(shared_, Of(kGreedy, 50, absl::ZeroDuration())), testing::IsOk());
  const absl::Status status = AdmitTo(shared_, Of(kGreedy, 1, absl::ZeroDuration()));
  EXPECT_EQ(refusal, Refusal::kBytes);
  EXPECT_EQ(GetErrorDetail(status)->want,
            "at most 0 bytes more, of 100 for inputs, outputs and workspaces (max_bytes_in_flight, "
            "client_share)");
  EXPECT_THAT(AdmitTo(shared_, Of(kOther, 25, absl::ZeroDuration())), testing::IsOk());
  places_.clear();
  EXPECT_EQ(shared_.load().bytes, 0);
}

TEST_F(SharedAdmissionTest, WorkOnStreamsIsWaitedFor) {
  const Admission::Place entered = shared_.Enter(Of(kGreedy, 1, absl::Milliseconds(30)));
  EXPECT_EQ(shared_.load().expected_wait, absl::Milliseconds(15));
  EXPECT_EQ(AdmitTo(shared_, Of(kGreedy, 1, absl::Milliseconds(1))).code(),
            absl::StatusCode::kResourceExhausted);
}

TEST_F(SharedAdmissionTest, WhoIsServedInItsFairTurnTeachesNothingOfTheQueue) {
  EXPECT_THAT(AdmitTo(shared_, Of(kGreedy, 1, absl::Milliseconds(30))), testing::IsOk());
  for (int i = 0; i < 60; ++i) {
    absl::StatusOr<Admission::Place> place =
        shared_.Admit(Of(kOther, 1, absl::ZeroDuration()), refusal);
    ASSERT_THAT(place, testing::IsOk());
    place->Start(kNow + absl::Microseconds(10));
  }
  EXPECT_EQ(shared_.load().expected_wait, absl::Milliseconds(15));
  EXPECT_FALSE(AdmitTo(shared_, Of(kGreedy, 1, absl::ZeroDuration())).ok());
  EXPECT_EQ(refusal, Refusal::kWait);
}

TEST_F(AdmissionTest, WhatGoesBeforeOthersTeachesNothingOfTheirs) {
  Admission::Demand tiny = Demand(1, absl::ZeroDuration());
  tiny.is_tiny = true;
  const auto run_at_once = [&] {
    for (int i = 0; i < 60; ++i) {
      absl::StatusOr<Admission::Place> place = admission.Admit(tiny, refusal);
      ASSERT_THAT(place, testing::IsOk());
      place->Start(kNow + absl::Microseconds(10));
    }
  };
  EXPECT_THAT(Admit(Demand(1, absl::Milliseconds(10))), testing::IsOk());
  run_at_once();
  EXPECT_EQ(admission.load().expected_wait, absl::Milliseconds(5));
  places.clear();
  // Where all are tiny, they wait for each other.
  tiny.time = absl::Milliseconds(10);
  EXPECT_THAT(Admit(tiny), testing::IsOk());
  tiny.time = absl::ZeroDuration();
  run_at_once();
  EXPECT_LT(admission.load().expected_wait, absl::Milliseconds(1));
}

TEST_F(AdmissionTest, OneWaitDoesNotSpoilTheEstimates) {
  EXPECT_THAT(Admit(Demand(1, absl::Milliseconds(10))), testing::IsOk());
  const absl::Duration before = admission.load().expected_wait;
  {
    absl::StatusOr<Admission::Place> place =
        admission.Admit(Demand(1, absl::ZeroDuration()), refusal);
    ASSERT_THAT(place, testing::IsOk());
    place->Start(kNow + absl::Hours(1));
  }
  EXPECT_LT(admission.load().expected_wait, 1.2 * before);
}

}  // namespace
}  // namespace opserve
