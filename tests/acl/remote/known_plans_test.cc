#include "client/acl/remote/known_plans.h"

#include <optional>
#include <string>

#include "gtest/gtest.h"

namespace opserve::acl {
namespace {

TEST(KnownPlansTest, AreBoundedInBytes) {
  const auto key = [](char first) { return first + std::string(size_t{3} << 20, 'k'); };
  KnownPlans plans;
  plans.Remember(key('a'), 1);
  plans.Remember(key('a'), 1);
  plans.Remember(key('b'), 2);
  EXPECT_EQ(plans.Find(key('a')), 1);
  EXPECT_EQ(plans.Find(key('b')), 2);
  plans.Remember(key('c'), 3);
  EXPECT_EQ(plans.Find(key('a')), std::nullopt);
  EXPECT_EQ(plans.Find(key('c')), 3);
}

TEST(KnownPlansTest, ALargeKeyIsNotRemembered) {
  const std::string large(size_t{9} << 20, 'k');
  KnownPlans plans;
  plans.Remember("small", 1);
  plans.Remember(large, 2);
  EXPECT_EQ(plans.Find(large), std::nullopt);
  EXPECT_EQ(plans.Find("small"), 1);
}

}  // namespace
}  // namespace opserve::acl
