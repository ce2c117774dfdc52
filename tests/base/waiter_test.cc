#include "core/base/waiter.h"

#include <gtest/gtest.h>

#include <thread>

namespace opserve {
namespace {

TEST(WaiterTest, AllCopiesHaveTheValue) {
  const Waiter<int> waiter;
  std::thread setter([waiter] { waiter.Set(7); });
  EXPECT_EQ(waiter.Wait(absl::InfiniteFuture()), 7);
  EXPECT_EQ(waiter.Wait(absl::InfinitePast()), 7);
  setter.join();
}

TEST(WaiterTest, GivesUpAtTheDeadline) {
  const Waiter<int> waiter;
  EXPECT_EQ(waiter.Wait(absl::InfinitePast()), std::nullopt);
  EXPECT_EQ(waiter.Wait(Clock::Real().Now() + absl::Milliseconds(1)), std::nullopt);
}

}  // namespace
}  // namespace opserve
