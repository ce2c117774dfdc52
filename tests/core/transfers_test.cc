// Transfers, on a device that uses the host's memory and on one that does not, against a model: the
// range's bytes picked out one by one.
#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "core/backends/cpu/cpu_device.h"
#include "core/base/op_error.h"
#include "gtest/gtest.h"
#include "tests/support/fake_clock.h"
#include "tests/support/manual_device.h"
#include "tests/support/seed.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

using Bytes = std::vector<std::byte>;

std::unique_ptr<Device> MakeDevice(const std::string& kind, const Clock& clock) {
  if (kind == "manual") return std::make_unique<ManualDevice>(ManualDevice::Options(), clock);
  return cpu::MakeCpuDevice({.name = "cpu:0", .threads = 2, .memory_limit_bytes = 64 << 20}, clock);
}

Bytes RandomBytes(size_t count, Rng& rng) {
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(rng());
  return bytes;
}

// Fragments over `bytes`, cut at random.
Fragments Cut(const Bytes& bytes, Rng& rng) {
  Fragments fragments;
  for (size_t at = 0; at < bytes.size();) {
    const size_t count = std::min<size_t>(bytes.size() - at, 1 + rng() % (1 + bytes.size() / 5));
    fragments.Append(std::span(bytes).subspan(at, count));
    at += count;
  }
  return fragments;
}

// A range of a buffer, by offsets.
struct Shape {
  int64_t offset;
  int64_t row_bytes;
  int64_t rows;
  int64_t stride_bytes;

  int64_t size() const { return row_bytes * rows; }
  int64_t reach() const { return offset + (rows - 1) * stride_bytes + row_bytes; }
  size_t At(int64_t byte) const {
    return static_cast<size_t>(offset + byte / row_bytes * stride_bytes + byte % row_bytes);
  }
};

constexpr Shape kShapes[] = {{0, 1, 1, 0},      {3, 1000, 1, 0},      {64, 24, 40, 24},
                             {5, 8, 1000, 31},  {1, 1'000'008, 1, 0}, {17, 300'000, 4, 300'001},
                             {9, 8, 100'000, 9}};

class TransfersTest : public ::testing::TestWithParam<std::string> {
 protected:
  // A buffer that holds `bytes`.
  PooledBuffer Holding(const Bytes& bytes) {
    PooledBuffer buffer = *device_->memory().Acquire(bytes.size());
    EXPECT_THAT(device_->Upload(WholeOf(buffer), Fragments(bytes)), IsOk());
    return buffer;
  }
  Bytes Read(const PooledBuffer& buffer) {
    Bytes bytes(buffer.size());
    EXPECT_THAT(device_->Download(WholeOf(buffer), 0, bytes), IsOk());
    return bytes;
  }
  static MemoryRange WholeOf(const PooledBuffer& buffer) {
    return {.start = buffer.data(), .row_bytes = static_cast<int64_t>(buffer.size())};
  }
  static MemoryRange Of(const PooledBuffer& buffer, const Shape& shape) {
    return {buffer.data() + shape.offset, shape.row_bytes, shape.rows, shape.stride_bytes};
  }

  FakeClock clock_;
  std::unique_ptr<Device> device_ = MakeDevice(GetParam(), clock_);
  Rng rng_ = MakeRng(21);
};

TEST_P(TransfersTest, UploadWritesTheRegionAndNothingElse) {
  for (const Shape& shape : kShapes) {
    Bytes want = RandomBytes(static_cast<size_t>(shape.reach()) + 11, rng_);
    const PooledBuffer buffer = Holding(want);
    const Bytes source = RandomBytes(static_cast<size_t>(shape.size()), rng_);
    ASSERT_THAT(device_->Upload(Of(buffer, shape), Cut(source, rng_)), IsOk());
    for (int64_t i = 0; i < shape.size(); ++i) want[shape.At(i)] = source[static_cast<size_t>(i)];
    EXPECT_TRUE(Read(buffer) == want) << shape.row_bytes << " x " << shape.rows;
  }
}

TEST_P(TransfersTest, DownloadReadsAnyPart) {
  for (const Shape& shape : kShapes) {
    const Bytes held = RandomBytes(static_cast<size_t>(shape.reach()), rng_);
    const PooledBuffer buffer = Holding(held);
    for (int round = 0; round < 5; ++round) {
      const auto first = static_cast<int64_t>(rng_() % static_cast<uint64_t>(shape.size()));
      Bytes part(rng_() % static_cast<uint64_t>(shape.size() - first + 1));
      ASSERT_THAT(device_->Download(Of(buffer, shape), first, part), IsOk());
      for (size_t i = 0; i < part.size(); ++i)
        ASSERT_EQ(part[i], held[shape.At(first + static_cast<int64_t>(i))]);
    }
  }
}

TEST_P(TransfersTest, CopyGoesBetweenUnlikeRows) {
  constexpr Shape kPairs[][2] = {{{0, 12, 1, 0}, {3, 4, 3, 7}},
                                 {{1, 6, 1000, 8}, {2, 8, 750, 11}},
                                 {{0, 1'200'000, 1, 0}, {4, 300, 4000, 301}},
                                 {{7, 400'000, 3, 400'100}, {0, 600'000, 2, 700'000}}};
  for (const auto& [from, to] : kPairs) {
    const Bytes source = RandomBytes(static_cast<size_t>(from.reach()), rng_);
    Bytes want = RandomBytes(static_cast<size_t>(to.reach()) + 5, rng_);
    const PooledBuffer source_buffer = Holding(source);
    const PooledBuffer target_buffer = Holding(want);
    ASSERT_THAT(device_->Copy(Of(source_buffer, from), Of(target_buffer, to)), IsOk());
    for (int64_t i = 0; i < to.size(); ++i) want[to.At(i)] = source[from.At(i)];
    EXPECT_TRUE(Read(target_buffer) == want) << to.row_bytes << " x " << to.rows;
    EXPECT_TRUE(Read(source_buffer) == source);
  }
}

TEST_P(TransfersTest, FillRepeatsThePatternInEachRow) {
  for (const size_t size : {1, 2, 4, 8}) {
    const Bytes pattern = RandomBytes(size, rng_);
    for (const Shape& shape : kShapes) {
      if (shape.row_bytes % static_cast<int64_t>(size) != 0) continue;
      Bytes want = RandomBytes(static_cast<size_t>(shape.reach()) + 3, rng_);
      const PooledBuffer buffer = Holding(want);
      ASSERT_THAT(device_->Fill(Of(buffer, shape), pattern), IsOk());
      for (int64_t i = 0; i < shape.size(); ++i)
        want[shape.At(i)] = pattern[static_cast<size_t>(i) % size];
      EXPECT_TRUE(Read(buffer) == want) << size << ": " << shape.row_bytes << " x " << shape.rows;
    }
  }
}

TEST_P(TransfersTest, NothingIsMovedWhereThereIsNothing) {
  const Bytes held = RandomBytes(64, rng_);
  const PooledBuffer buffer = Holding(held);
  const Bytes pattern(8, std::byte{1});
  for (const Shape& empty : {Shape{0, 0, 1, 0}, Shape{8, 8, 0, 8}, Shape{8, 0, 5, 4}}) {
    EXPECT_THAT(device_->Upload(Of(buffer, empty), Fragments()), IsOk());
    EXPECT_THAT(device_->Download(Of(buffer, empty), 0, {}), IsOk());
    EXPECT_THAT(device_->Copy(Of(buffer, empty), MemoryRange()), IsOk());
    EXPECT_THAT(device_->Fill(Of(buffer, empty), pattern), IsOk());
  }
  EXPECT_TRUE(Read(buffer) == held);
}

TEST_P(TransfersTest, AmongShortRowsTheyMayBeStopped) {
  constexpr Shape kShape{0, 1, 1 << 16, 2};
  const PooledBuffer buffer = *device_->memory().Acquire(static_cast<size_t>(kShape.reach()));
  const PooledBuffer other = *device_->memory().Acquire(static_cast<size_t>(kShape.size()));
  const MemoryRange rows = Of(buffer, kShape);
  Bytes bytes(static_cast<size_t>(kShape.size()));
  std::atomic<int> asked = 0;
  const auto stop = [&] {
    ++asked;
    return false;
  };
  const auto asked_for = [&](const auto& transfer) {
    asked = 0;
    const Workers workers(device_->workers(), stop);
    EXPECT_THAT(transfer(workers), IsOk());
    return asked.load();
  };
  const std::span<const std::byte> pattern = std::span(bytes).first(1);
  EXPECT_GE(asked_for([&](const Workers& workers) {
              return device_->Upload(rows, Fragments(bytes), workers);
            }),
            2);
  EXPECT_GE(
      asked_for([&](const Workers& workers) { return device_->Download(rows, 0, bytes, workers); }),
      2);
  EXPECT_GE(asked_for([&](const Workers& workers) {
              return device_->Copy(rows, WholeOf(other), workers);
            }),
            2);
  EXPECT_GE(
      asked_for([&](const Workers& workers) { return device_->Fill(rows, pattern, workers); }), 2);
}

TEST_P(TransfersTest, WhatDoesNotFitIsADefect) {
  const Bytes held = RandomBytes(64, rng_);
  const PooledBuffer buffer = Holding(held);
  const MemoryRange all = WholeOf(buffer);
  Bytes host(65);
  const std::span<std::byte> bytes(host);
  const auto part = [&](int64_t count) { return MemoryRange{buffer.data(), count, 1, 0}; };
  for (const absl::Status& status :
       {device_->Upload(all, Fragments(bytes)), device_->Upload(all, Fragments(bytes.first(63))),
        device_->Download(all, 0, bytes), device_->Download(all, 64, bytes.first(1)),
        device_->Download(all, -1, bytes.first(1)), device_->Copy(part(8), part(9)),
        device_->Fill(part(8), {}), device_->Fill(part(12), bytes.first(3)),
        device_->Fill(part(32), bytes.first(16)), device_->Fill(part(12), bytes.first(8))}) {
    ASSERT_TRUE(GetErrorDetail(status).has_value()) << status;
    EXPECT_EQ(GetErrorDetail(status)->reason, ErrorReason::kInternal) << status;
  }
  EXPECT_TRUE(Read(buffer) == held);
}

INSTANTIATE_TEST_SUITE_P(Devices, TransfersTest, ::testing::Values("cpu", "manual"),
                         [](const auto& kind) { return kind.param; });

}  // namespace
}  // namespace opserve::testing
