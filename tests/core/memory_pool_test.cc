#include "core/device/memory_pool.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/fake_clock.h"
#include "tests/support/seed.h"
#include "tests/support/status_matchers.h"

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
  absl::Status Clear(std::byte* data, size_t bytes) override {
    ++cleared;
    if (std::exchange(next_clear_fails, false)) return absl::InternalError("lost");
    return MemorySource::Host().Clear(data, bytes);
  }
  bool allocates_zeros(size_t bytes) const override {
    return MemorySource::Host().allocates_zeros(bytes);
  }
  int64_t live = 0;
  int cleared = 0;
  bool exhausted = false;
  bool next_clear_fails = false;
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
  EXPECT_EQ(pool.stats().refused, 2);
  a->Release();
  // What is cached makes room for another size.
  EXPECT_THAT(pool.Acquire(64), testing::IsOk());
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
  EXPECT_EQ(pool.stats().refused, 1);
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
        ASSERT_THAT(lease, testing::IsOk());
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

// Writes all of a lease of `bytes`, and gives it back.
void LeaveSecrets(MemoryPool& pool, size_t bytes, const Lessee& lessee = {}) {
  const PooledBuffer lease = *pool.Acquire(bytes, lessee);
  std::memset(lease.data(), 0x5e, bytes);
}

bool IsAll(const PooledBuffer& lease, std::byte value) {
  return std::all_of(lease.data(), lease.data() + lease.size(),
                     [value](std::byte byte) { return byte == value; });
}

class MemoryPoolReaders : public ::testing::TestWithParam<size_t> {
 protected:
  FakeClock clock_;
  CountingSource source_;
  MemoryPool pool_{64 << 20, source_, clock_};
};

TEST_P(MemoryPoolReaders, NobodyReadsWhatOthersLeft) {
  LeaveSecrets(pool_, GetParam());
  LeaveSecrets(pool_, GetParam(), {.reader = 1});
  const PooledBuffer lease = *pool_.Acquire(GetParam(), {.reader = 2});
  EXPECT_EQ(pool_.stats().hits, 2);
  EXPECT_TRUE(IsAll(lease, std::byte{0}));
}

TEST_P(MemoryPoolReaders, NobodyReadsWhatCouldNotBeCleared) {
  LeaveSecrets(pool_, GetParam(), {.reader = 1});
  source_.next_clear_fails = true;
  EXPECT_EQ(pool_.Acquire(GetParam(), {.reader = 2}).status().code(), absl::StatusCode::kInternal);
  EXPECT_EQ(pool_.stats().used_bytes, 0);
  EXPECT_TRUE(IsAll(*pool_.Acquire(GetParam(), {.reader = 2}), std::byte{0}));
}

TEST_P(MemoryPoolReaders, NobodyReadsWhatLayThereBefore) {
  EXPECT_TRUE(IsAll(*pool_.Acquire(GetParam(), {.reader = 1}), std::byte{0}));
}

TEST_P(MemoryPoolReaders, WhatAReaderLeftNeedsNoClearing) {
  LeaveSecrets(pool_, GetParam(), {.reader = 1});
  const int before = source_.cleared;
  EXPECT_TRUE(IsAll(*pool_.Acquire(GetParam(), {.reader = 1}), std::byte{0x5e}));
  EXPECT_EQ(source_.cleared, before);
}

TEST_P(MemoryPoolReaders, ALargerLeaseOfTheSameReaderIsClearToItsEnd) {
  const size_t size_class = MemoryPool::SizeClass(GetParam());
  LeaveSecrets(pool_, size_class);
  pool_.Acquire(size_class - 8, {.reader = 1})->Release();
  EXPECT_TRUE(IsAll(*pool_.Acquire(size_class, {.reader = 1}), std::byte{0}));
}

TEST_P(MemoryPoolReaders, WhoReadsNothingUnwrittenCostsNoClearing) {
  LeaveSecrets(pool_, GetParam());
  pool_.Acquire(GetParam())->Release();
  EXPECT_EQ(source_.cleared, 0);
}

INSTANTIATE_TEST_SUITE_P(Sizes, MemoryPoolReaders,
                         ::testing::Values(64, 1000, 100'000, 3 << 20, (5 << 20) + 123));

TEST(MemoryPoolTest, NoClientHoldsAll) {
  FakeClock clock;
  MemoryPool pool(1 << 20, MemorySource::Host(), clock, 0.5);
  const Lessee first = {.client = ClientId{1}};
  const Lessee second = {.client = ClientId{2}};
  std::vector<PooledBuffer> leases;
  leases.push_back(*pool.Acquire(512 << 10, first));
  const absl::Status refused = pool.Acquire(64, first).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(refused.message(),
            "memory limit: want at most 524288 bytes in use by one client (client_share), got 64 "
            "bytes more with "
            "524288 in use");
  leases.push_back(*pool.Acquire(256 << 10, second));
  EXPECT_FALSE(pool.Acquire(64, second).ok());
  leases.push_back(*pool.Acquire(256 << 10));
  EXPECT_EQ(pool.Acquire(64).status().code(), absl::StatusCode::kResourceExhausted);
  leases.clear();
  EXPECT_EQ(pool.stats().used_bytes, 0);
  EXPECT_THAT(pool.Acquire(512 << 10, second), testing::IsOk());
}

}  // namespace
}  // namespace opserve
