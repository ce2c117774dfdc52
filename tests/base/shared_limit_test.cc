#include "core/base/shared_limit.h"

#include <cstdint>
#include <limits>

#include "gtest/gtest.h"
#include "tests/base/clients.h"

namespace opserve {
namespace {

using Verdict = SharedLimit::Verdict;

int64_t TakeAll(SharedLimit& limit, ClientId client) {
  while (limit.Take(client, 1) == Verdict::kGranted) {
  }
  return limit.used_by(client);
}

TEST(SharedLimitTest, OneClientLeavesRoom) {
  SharedLimit limit(1000, 0.75);
  EXPECT_EQ(limit.Take(kFirst, 751), Verdict::kShare);
  EXPECT_EQ(limit.Take(kFirst, 750), Verdict::kGranted);
  EXPECT_EQ(limit.Take(kFirst, 1), Verdict::kShare);
  EXPECT_EQ(limit.Take(kFirst, 251), Verdict::kFull);
  EXPECT_EQ(limit.Take(kSecond, 187), Verdict::kGranted);
  EXPECT_EQ(limit.Take(kSecond, 1), Verdict::kShare);
}

TEST(SharedLimitTest, ThereIsAlwaysRoomForOneMore) {
  SharedLimit limit(1'000'000, 0.75);
  for (uint64_t client = 1; client <= 8; ++client) EXPECT_GT(TakeAll(limit, ClientId{client}), 0);
  EXPECT_LT(limit.used(), limit.limit());
}

TEST(SharedLimitTest, ClientsThatTakeInTurnsGetTheSame) {
  SharedLimit limit(7000, 0.75);
  bool granted = true;
  while (granted) {
    granted = limit.Take(kFirst, 1) == Verdict::kGranted;
    granted = limit.Take(kSecond, 1) == Verdict::kGranted || granted;
  }
  EXPECT_NEAR(static_cast<double>(limit.used_by(kFirst)), 3000, 1);
  EXPECT_NEAR(static_cast<double>(limit.used_by(kSecond)), 3000, 1);
}

TEST(SharedLimitTest, WhatIsReturnedCanBeTakenAgain) {
  SharedLimit limit(100, 0.5);
  ASSERT_EQ(limit.Take(kFirst, 50), Verdict::kGranted);
  ASSERT_EQ(limit.Take(kSecond, 25), Verdict::kGranted);
  limit.Return(kFirst, 50);
  EXPECT_EQ(limit.used(), 25);
  EXPECT_EQ(limit.num_clients(), 1u);
  EXPECT_EQ(limit.MostOf(kSecond), 50);
  EXPECT_EQ(limit.Take(kThird, 37), Verdict::kGranted);
  limit.Return(kSecond, 25);
  limit.Return(kThird, 37);
  EXPECT_EQ(limit.used(), 0);
  EXPECT_EQ(limit.num_clients(), 0u);
}

TEST(SharedLimitTest, AShareOfOneIsNoBoundOfItsOwn) {
  SharedLimit limit(100, 1);
  EXPECT_EQ(limit.Take(kFirst, 100), Verdict::kGranted);
  EXPECT_EQ(limit.Take(kSecond, 1), Verdict::kFull);
}

TEST(SharedLimitTest, TheProcessItselfMayHoldAll) {
  SharedLimit limit(100, 0.5);
  EXPECT_EQ(limit.Take(ClientId::kNone, 100), Verdict::kGranted);
  EXPECT_EQ(limit.Take(ClientId::kNone, 1), Verdict::kFull);
}

TEST(SharedLimitTest, LessThanNothingIsRefused) {
  SharedLimit limit(10, 1);
  EXPECT_EQ(limit.Take(ClientId::kNone, -1), Verdict::kFull);
  EXPECT_EQ(limit.Take(kFirst, std::numeric_limits<int64_t>::min()), Verdict::kFull);
  EXPECT_EQ(limit.used(), 0);
}

TEST(SharedLimitTest, NothingCanAlwaysBeTaken) {
  SharedLimit limit(1, 0.5);
  ASSERT_EQ(limit.Take(kFirst, 1), Verdict::kGranted);
  EXPECT_EQ(limit.Take(kFirst, 0), Verdict::kGranted);
  EXPECT_EQ(limit.Take(kSecond, 0), Verdict::kGranted);
}

}  // namespace
}  // namespace opserve
