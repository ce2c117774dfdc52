#include "core/device/memory_pool.h"

#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/fake_clock.h"
#include "tests/support/seed.h"

namespace opserve {
namespace {

using testing::FakeClock;

// Counts what it gives out, and gives out nothing when told.
class CountingSource final : public MemorySource {
 public:
  std::byte* Allocate(size_t bytes) override {
    if (exhausted) return nullptr;
    live += static_cast<int64_t>(bytes);
    return MemorySource::Host().Allocate(bytes);
  }
  void Free(std::byte* data, size_t bytes) override {
    live -= static_cast<int64_t>(bytes);
    MemorySource::Host().Free(data, bytes);
  }
  int64_t live = 0;
  bool exhausted = false;
};

TEST(MemoryPoolTest, ClassesWasteLittle) {
  EXPECT_EQ(MemoryPool::SizeClass(1), 64u);
  EXPECT_EQ(MemoryPool::SizeClass(64), 64u);
  EXPECT_EQ(MemoryPool::SizeClass(65), 128u);
  EXPECT_EQ(MemoryPool::SizeClass(1024), 1024u);
  EXPECT_EQ(MemoryPool::SizeClass(1025), 1280u);
  for (size_t bytes = 512; bytes < 100'000; bytes += 37) {
    const size_t rounded = MemoryPool::SizeClass(bytes);
    EXPECT_GE(rounded, bytes);
    EXPECT_LE(rounded, bytes + bytes / 4 + 1);
    EXPECT_EQ(rounded % 64, 0u);
    EXPECT_EQ(MemoryPool::SizeClass(rounded), rounded);
  }
}

TEST(MemoryPoolTest, KeepsBuffersWarm) {
  CountingSource source;
  FakeClock clock;
  MemoryPool pool(1 << 20, source, clock);
  const std::byte* first = pool.Acquire(1000)->data();
  EXPECT_EQ(pool.stats().used_bytes, 0);
  EXPECT_EQ(pool.stats().cached_bytes, 1024);
  const absl::StatusOr<PooledBuffer> again = pool.Acquire(990);
  EXPECT_EQ(again->data(), first);
  EXPECT_EQ(again->size(), 990u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(again->data()) % 64, 0u);
  EXPECT_EQ(pool.stats().hits, 1);
  EXPECT_EQ(pool.stats().misses, 1);
  EXPECT_EQ(pool.stats().largest_lease_bytes, 1000);
}

TEST(MemoryPoolTest, NeverExceedsItsLimit) {
  CountingSource source;
  FakeClock clock;
  MemoryPool pool(4096, source, clock);
  absl::StatusOr<PooledBuffer> a = pool.Acquire(2048);
  absl::StatusOr<PooledBuffer> b = pool.Acquire(2048);
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(pool.Acquire(1).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(pool.Acquire(SIZE_MAX).status().code(), absl::StatusCode::kResourceExhausted);
  a->Release();
  // What is cached makes room for another size.
  EXPECT_TRUE(pool.Acquire(64).ok());
  EXPECT_LE(source.live, 4096);
}

TEST(MemoryPoolTest, GivesIdleMemoryBack) {
  CountingSource source;
  FakeClock clock;
  MemoryPool pool(1 << 20, source, clock);
  pool.Acquire(1000)->Release();
  clock.Advance(absl::Seconds(5));
  pool.Acquire(5000)->Release();
  clock.Advance(absl::Seconds(6));
  pool.TrimIdle(absl::Seconds(10));
  EXPECT_EQ(pool.stats().cached_bytes, static_cast<int64_t>(MemoryPool::SizeClass(5000)));
  clock.Advance(absl::Seconds(5));
  pool.TrimIdle(absl::Seconds(10));
  EXPECT_EQ(source.live, 0);
}

// Under a steady load, what lies beyond the most that was leased at once of late goes back, however
// warm the rest is kept.
TEST(MemoryPoolTest, KeepsNoMoreThanTheRecentHighWaterMark) {
  CountingSource source;
  FakeClock clock;
  MemoryPool pool(1 << 20, source, clock);
  const auto lease = [&](size_t count) {
    std::vector<PooledBuffer> leases;
    for (size_t i = 0; i < count; ++i) leases.push_back(*pool.Acquire(1024));
  };
  lease(10);
  for (int second = 0; second < 20; ++second) {
    clock.Advance(absl::Seconds(1));
    lease(second == 5 ? 7 : 3);
    pool.TrimIdle(absl::Seconds(10));
    const int kept = second < 10 ? 10 : second < 16 ? 7 : 3;
    EXPECT_EQ(source.live, kept * 1024) << second;
  }
}

TEST(MemoryPoolTest, ASourceWithoutMemoryIsAnError) {
  CountingSource source;
  FakeClock clock;
  MemoryPool pool(1 << 20, source, clock);
  source.exhausted = true;
  EXPECT_EQ(pool.Acquire(64).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(pool.stats().used_bytes, 0);
}

TEST(MemoryPoolTest, ALeaseMayOutliveItsPool) {
  CountingSource source;
  FakeClock clock;
  PooledBuffer lease;
  {
    MemoryPool pool(64 << 20, source, clock);
    lease = *pool.Acquire(5 << 20);
  }
  std::memset(lease.data(), 1, lease.size());
  EXPECT_GT(source.live, 0);
  lease.Release();
  EXPECT_EQ(source.live, 0);
}

TEST(MemoryPoolTest, ManyThreadsShareIt) {
  FakeClock clock;
  MemoryPool pool(1 << 20, MemorySource::Host(), clock);
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&pool, t] {
      testing::Rng rng(t);
      for (int i = 0; i < 500; ++i) {
        const absl::StatusOr<PooledBuffer> lease = pool.Acquire(1 + rng() % 5000);
        ASSERT_TRUE(lease.ok());
        std::memset(lease->data(), static_cast<int>(t), lease->size());
        if (i % 50 == 0) pool.TrimIdle(absl::ZeroDuration());
        for (size_t k = 0; k < lease->size(); ++k)
          ASSERT_EQ(lease->data()[k], static_cast<std::byte>(t));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool.stats().used_bytes, 0);
}

}  // namespace
}  // namespace opserve
