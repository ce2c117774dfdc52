// The table that finds commands to cancel, against a map.
#include "server/session/under_way.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "tests/support/seed.h"

namespace opserve::testing {
namespace {

using server::CommandsUnderWay;
using Flag = std::atomic<bool>;

TEST(CommandsUnderWayTest, FindsWhatIsThereAndNothingElse) {
  Rng rng = MakeRng(31);
  CommandsUnderWay commands;
  std::map<uint64_t, std::unique_ptr<Flag>> there;
  uint64_t last = 0;
  for (int i = 0; i < 20'000; ++i) {
    // More and more of them, then fewer and fewer.
    const bool adds = rng() % 10 < (i < 10'000 ? 6U : 4U);
    if (adds) {
      last += 1 + rng() % 3;
      const auto at = there.emplace(last, std::make_unique<Flag>(false)).first;
      commands.Add(last, *at->second);
    } else if (!there.empty()) {
      auto at = there.lower_bound(rng() % (last + 1));
      if (at == there.end()) at = there.begin();
      commands.Remove(at->first);
      there.erase(at);
    }
    const uint64_t id = rng() % (last + 2);
    commands.Cancel(id);
    for (const uint64_t other : {id - 1, id, id + 1}) {
      const auto at = there.find(other);
      if (at == there.end()) continue;
      EXPECT_EQ(at->second->load(), other == id);
      at->second->store(false);
    }
  }
  while (!there.empty()) {
    commands.Remove(there.begin()->first);
    there.erase(there.begin());
  }
  for (uint64_t id = 0; id <= last + 1; ++id) commands.Cancel(id);
}

TEST(CommandsUnderWayTest, RemovingWhatIsNotThereDoesNothing) {
  CommandsUnderWay commands;
  commands.Remove(1);
  Flag flag = false;
  commands.Add(5, flag);
  commands.Remove(4);
  commands.Remove(6);
  commands.Cancel(5);
  EXPECT_TRUE(flag);
  commands.Remove(5);
  commands.Remove(5);
  flag = false;
  commands.Cancel(5);
  EXPECT_FALSE(flag);
}

}  // namespace
}  // namespace opserve::testing
