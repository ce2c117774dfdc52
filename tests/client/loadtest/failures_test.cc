#include "client/loadtest/figures/failures.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"

namespace opserve::loadtest {
namespace {

TEST(FailuresTest, AreCountedByCodeAndReason) {
  Failures failures;
  failures.Add(absl::UnavailableError("gone"), 1);
  failures.Add(OutOfRange("beta", ">= 0", "-1"), 2);
  failures.Add(ShapeMismatch("self", "[4]", "[5]"), 5);
  failures.Add(OutOfRange("beta", ">= 0", "-2"), 2);
  const std::vector<Failure> list = failures.List();
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list[0].reason, "SHAPE_MISMATCH");
  EXPECT_EQ(list[0].calls, 5);
  EXPECT_EQ(list[1].code, "INVALID_ARGUMENT");
  EXPECT_EQ(list[1].reason, "OUT_OF_RANGE");
  EXPECT_EQ(list[1].calls, 4);
  EXPECT_EQ(list[1].example, "beta: want >= 0, got -1");
  EXPECT_EQ(list[2].code, "UNAVAILABLE");
  EXPECT_EQ(list[2].reason, "");
}

TEST(FailuresTest, LongMessagesAreCut) {
  Failures failures;
  failures.Add(absl::InternalError(std::string(10'000, 'x')), 1);
  EXPECT_LT(failures.List().front().example.size(), 1000U);
}

}  // namespace
}  // namespace opserve::loadtest
