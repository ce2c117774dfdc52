#include "client/acl/provider/stream_end.h"

#include <vector>

#include "gtest/gtest.h"

namespace opserve::acl {
namespace {

class StreamEndTest : public ::testing::Test {
 protected:
  bool Poll() {
    return end_.Await([this](const Waiter<bool>& waiter) { begun_.push_back(waiter); })
        .Wait(absl::InfinitePast())
        .has_value();
  }

  StreamEnd end_;
  std::vector<Waiter<bool>> begun_;
};

TEST_F(StreamEndTest, PollsLeaveOneWaitBehind) {
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(Poll());
  EXPECT_EQ(begun_.size(), 1U);
  begun_[0].Set(true);
  EXPECT_TRUE(Poll());
}

TEST_F(StreamEndTest, WhatIsPutBehindIsWaitedFor) {
  EXPECT_FALSE(Poll());
  end_.Put();
  EXPECT_FALSE(Poll());
  ASSERT_EQ(begun_.size(), 2U);
  begun_[0].Set(true);
  EXPECT_FALSE(Poll());
  begun_[1].Set(true);
  EXPECT_TRUE(Poll());
}

TEST_F(StreamEndTest, AnEndIsToldOnce) {
  EXPECT_FALSE(Poll());
  begun_[0].Set(true);
  EXPECT_TRUE(Poll());
  end_.Came();
  EXPECT_FALSE(Poll());
  EXPECT_EQ(begun_.size(), 2U);
}

}  // namespace
}  // namespace opserve::acl
