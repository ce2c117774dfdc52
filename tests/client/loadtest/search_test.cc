#include "client/loadtest/load/search.h"

#include <gtest/gtest.h>

namespace opserve::loadtest {
namespace {

// Of a server that keeps its goal up to `limit`.
double Search(double limit, SearchBounds bounds, int* trials = nullptr) {
  int tried = 0;
  const double found = FindHighestLoad(bounds, [&](double load) -> std::optional<bool> {
    ++tried;
    return load <= limit;
  });
  if (trials != nullptr) *trials = tried;
  return found;
}

TEST(SearchTest, FindsTheLimitFromBelowAndAbove) {
  for (const double first : {1.0, 100.0, 100'000.0}) {
    const double found = Search(3000, {.first = first, .trials = 40});
    EXPECT_LE(found, 3000) << first;
    EXPECT_GE(found, 3000 / 1.06) << first;
  }
}

TEST(SearchTest, WholeNumbersAreExact) {
  EXPECT_EQ(Search(13, {.first = 1, .trials = 40, .whole = true}), 13);
  EXPECT_EQ(Search(1, {.first = 64, .trials = 40, .whole = true}), 1);
}

TEST(SearchTest, NothingMeetsAGoalThatCannotBe) {
  int trials = 0;
  EXPECT_EQ(Search(-1, {.first = 8, .trials = 40, .whole = true}, &trials), 0);
  EXPECT_LT(trials, 10);
  EXPECT_EQ(Search(-1, {.first = 1000, .trials = 40}, &trials), 0);
  EXPECT_LE(trials, 40);
}

TEST(SearchTest, BoundsHold) {
  EXPECT_EQ(Search(1e12, {.first = 1, .highest = 1000, .trials = 40}), 1000);
  int trials = 0;
  Search(1e9, {.first = 1, .trials = 5}, &trials);
  EXPECT_EQ(trials, 5);
}

TEST(SearchTest, EndsWhenItIsTold) {
  int tried = 0;
  const double found = FindHighestLoad({.first = 1}, [&](double) -> std::optional<bool> {
    return ++tried == 3 ? std::nullopt : std::optional(true);
  });
  EXPECT_EQ(found, 2);
  EXPECT_EQ(tried, 3);
}

}  // namespace
}  // namespace opserve::loadtest
