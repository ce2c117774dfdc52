#include "core/engine/plan/arena_layout.h"

#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/seed.h"

namespace opserve {
namespace {

TEST(ArenaLayoutTest, UsesWhatWasFreed) {
  ArenaLayout arena;
  EXPECT_EQ(arena.Take(100), 0u);
  EXPECT_EQ(arena.Take(64), 128u);
  arena.Free(0, 100);
  EXPECT_EQ(arena.Take(64), 0u);
  EXPECT_EQ(arena.Take(64), 64u);
  EXPECT_EQ(arena.Take(0), 0u);
  EXPECT_EQ(arena.peak_bytes(), 192u);
}

TEST(ArenaLayoutTest, JoinsHolesAndGrowsTheLast) {
  ArenaLayout arena;
  const size_t a = arena.Take(64);
  const size_t b = arena.Take(64);
  const size_t c = arena.Take(64);
  arena.Free(a, 64);
  arena.Free(c, 64);
  arena.Free(b, 64);
  EXPECT_EQ(arena.Take(192), 0u);
  arena.Free(0, 192);
  EXPECT_EQ(arena.Take(256), 0u);
  EXPECT_EQ(arena.peak_bytes(), 256u);
}

TEST(ArenaLayoutTest, SaturatesAtSizesThatNoMemoryHas) {
  ArenaLayout arena;
  for (int i = 0; i < 5; ++i) arena.Take(std::numeric_limits<size_t>::max());
  EXPECT_EQ(arena.peak_bytes(), size_t{1} << 62);
}

TEST(ArenaLayoutTest, NothingOverlaps) {
  testing::Rng rng = testing::MakeRng(1);
  struct Held {
    size_t offset, bytes;
  };
  std::vector<Held> held;
  ArenaLayout arena;
  for (int round = 0; round < 2000; ++round) {
    if (held.size() > 20 || (!held.empty() && rng() % 2 == 0)) {
      const size_t at = rng() % held.size();
      arena.Free(held[at].offset, held[at].bytes);
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(at));
      continue;
    }
    const size_t bytes = 1 + rng() % 1000;
    const size_t offset = arena.Take(bytes);
    ASSERT_EQ(offset % 64, 0u);
    ASSERT_LE(offset + bytes, arena.peak_bytes());
    for (const Held& other : held)
      ASSERT_TRUE(offset + bytes <= other.offset || other.offset + other.bytes <= offset);
    held.push_back({offset, bytes});
  }
}

}  // namespace
}  // namespace opserve
