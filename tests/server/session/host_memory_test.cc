#include "server/session/host_memory.h"

#include <gtest/gtest.h>

#include "core/base/op_error.h"
#include "tests/support/status_matchers.h"

namespace opserve::server {
namespace {

constexpr ClientId kFirst{1};
constexpr ClientId kSecond{2};

class HostMemoryTest : public ::testing::Test {
 protected:
  std::shared_ptr<SessionMemory> Session(ClientId client, int64_t limit_bytes) {
    return std::make_shared<SessionMemory>(all_, client, limit_bytes);
  }

  std::shared_ptr<HostMemory> all_ = std::make_shared<HostMemory>(1000, 0.5, Clock::Real());
};

TEST_F(HostMemoryTest, AnObjectsBytesGoWithIt) {
  const auto session = Session(kFirst, 400);
  {
    ASSERT_THAT(session->Take(100, "executor"), testing::IsOk());
    HostShare share(session, 100);
    const HostShare moved = std::move(share);
    EXPECT_EQ(all_->used_bytes(), 100);
  }
  EXPECT_EQ(all_->used_bytes(), 0);
}

TEST_F(HostMemoryTest, ACallsBytesGoWithIt) {
  {
    HostCharge charge(*all_);
    ASSERT_THAT(charge.Add(kFirst, 300, "answer"), testing::IsOk());
    ASSERT_THAT(charge.Add(kFirst, 200, "answer"), testing::IsOk());
    EXPECT_FALSE(charge.Add(kFirst, 1, "answer").ok());  // beyond the client's half
    EXPECT_EQ(all_->used_bytes(), 500);
    EXPECT_EQ(all_->stats().refused, 1);
    charge.Clear();
    EXPECT_EQ(all_->used_bytes(), 0);
    ASSERT_THAT(charge.Add(kFirst, 100, "answer"), testing::IsOk());
  }
  EXPECT_EQ(all_->used_bytes(), 0);
}

TEST_F(HostMemoryTest, WhatWaitsForRoomTakesNone) {
  HostCharge waiting(*all_, HostCharge::Of::kWaiting);
  ASSERT_THAT(waiting.Add(kFirst, 400, "message"), testing::IsOk());
  all_->Add(kSecond, 500);  // leaves 250 for the first
  EXPECT_TRUE(all_->HasRoom(kFirst));
  EXPECT_FALSE(waiting.Add(kFirst, 1, "message").ok());
  waiting.Note(kFirst, 200);
  EXPECT_TRUE(all_->HasRoom(kFirst));
  EXPECT_EQ(all_->used_bytes(), 1100);
  all_->Add(kFirst, 250);
  EXPECT_FALSE(all_->HasRoom(kFirst));
  waiting.Clear();
  EXPECT_FALSE(all_->HasRoom(kFirst));
  all_->Return(kFirst, 1);
  EXPECT_TRUE(all_->HasRoom(kFirst));
}

TEST_F(HostMemoryTest, ASessionHasItsBound) {
  const auto session = Session(kFirst, 400);
  EXPECT_THAT(session->Take(400, "executor"), testing::IsOk());
  EXPECT_EQ(session->Take(1, "executor").message(),
            "executor: want at most 0 bytes of host memory more for this session, got 1");
  EXPECT_EQ(all_->stats().refused, 1);
}

TEST_F(HostMemoryTest, AClientHasItsShareOverItsSessions) {
  const auto first = Session(kFirst, 400);
  const auto second = Session(kFirst, 400);
  const auto other = Session(kSecond, 400);
  EXPECT_THAT(first->Take(400, "buffer"), testing::IsOk());
  EXPECT_THAT(second->Take(100, "buffer"), testing::IsOk());
  EXPECT_EQ(second->Take(1, "buffer").message(),
            "buffer: want at most 0 bytes of host memory more for this client, got 1");
  EXPECT_FALSE(second->HasRoom());
  EXPECT_TRUE(other->HasRoom());
  EXPECT_THAT(other->Take(250, "buffer"), testing::IsOk());
}

TEST_F(HostMemoryTest, WhatASessionHadIsFreeWhenItGoes) {
  {
    const auto session = Session(kFirst, 400);
    EXPECT_THAT(session->Take(123, "stream"), testing::IsOk());
    session->Note(int64_t{1} << 20);
    EXPECT_GE(all_->used_bytes(), int64_t{1} << 20);
    EXPECT_FALSE(session->HasRoom());
  }
  EXPECT_EQ(all_->used_bytes(), 0);
}

TEST_F(HostMemoryTest, WhatPassesIsCountedInSteps) {
  const auto session = Session(kFirst, 400);
  for (int i = 0; i < 1000; ++i) {
    session->Note(100);
    EXPECT_LE(all_->used_bytes(), 100 * (i + 1));
    EXPECT_GE(all_->used_bytes(), 100 * (i + 1) - (64 << 10));
  }
  session->Note(-100'000);
  EXPECT_EQ(all_->used_bytes(), 0);
}

}  // namespace
}  // namespace opserve::server
