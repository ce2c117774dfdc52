// Memory that becomes shorter while it is read.
#include "server/shared_memory/guarded_mapping.h"

#include <sys/mman.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "core/base/unique_fd.h"

namespace opserve::server {
namespace {

constexpr size_t kPages = 64;
const auto kPageBytes = static_cast<size_t>(::sysconf(_SC_PAGESIZE));

// A file of ones.
class Ones {
 public:
  explicit Ones(size_t size) : fd_(::memfd_create("ones", MFD_CLOEXEC)) { Fill(size); }

  int fd() const { return fd_.get(); }
  void Cut(size_t size) const { EXPECT_EQ(::ftruncate(fd_.get(), static_cast<off_t>(size)), 0); }
  void Fill(size_t size) const {
    const std::vector<std::byte> ones(size, std::byte{1});
    EXPECT_EQ(::pwrite(fd_.get(), ones.data(), size, 0), static_cast<ssize_t>(size));
  }

 private:
  const UniqueFd fd_;
};

size_t OnesIn(std::span<const std::byte> bytes) {
  return static_cast<size_t>(std::count(bytes.begin(), bytes.end(), std::byte{1}));
}

TEST(GuardedMappingTest, ReadsAnyPartOfAFile) {
  const Ones file(3 * kPageBytes);
  for (const size_t offset : {size_t{0}, size_t{5}, kPageBytes, 2 * kPageBytes + 7}) {
    const size_t size = 3 * kPageBytes - offset;
    const auto mapping = GuardedMapping::Map(file.fd(), static_cast<off_t>(offset), size);
    ASSERT_NE(mapping, nullptr);
    EXPECT_EQ(mapping->bytes().size(), size);
    EXPECT_EQ(OnesIn(mapping->bytes()), size);
    EXPECT_FALSE(mapping->was_cut());
  }
}

TEST(GuardedMappingTest, WhatWasCutIsZeros) {
  const Ones file(kPages * kPageBytes);
  const auto mapping = GuardedMapping::Map(file.fd(), 1, kPages * kPageBytes - 1);
  const auto other = GuardedMapping::Map(file.fd(), 0, 2 * kPageBytes);
  file.Cut(2 * kPageBytes);
  EXPECT_FALSE(mapping->was_cut());
  EXPECT_EQ(OnesIn(mapping->bytes()), 2 * kPageBytes - 1);
  EXPECT_TRUE(mapping->was_cut());
  EXPECT_EQ(OnesIn(other->bytes()), 2 * kPageBytes);
  EXPECT_FALSE(other->was_cut());
  file.Fill(kPages * kPageBytes);
  EXPECT_EQ(OnesIn(mapping->bytes()), 2 * kPageBytes - 1);  // for good
  const auto again = GuardedMapping::Map(file.fd(), 0, kPages * kPageBytes);
  EXPECT_EQ(OnesIn(again->bytes()), kPages * kPageBytes);
  EXPECT_FALSE(again->was_cut());
}

TEST(GuardedMappingTest, IsCutWhileManyRead) {
  const Ones file(kPages * kPageBytes);
  std::atomic<bool> is_over = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!is_over) {
        const auto mapping = GuardedMapping::Map(file.fd(), 0, kPages * kPageBytes);
        // A reader that met the end knows it.
        EXPECT_TRUE(OnesIn(mapping->bytes()) == kPages * kPageBytes || mapping->was_cut());
      }
    });
  }
  for (int i = 0; i < 200; ++i) {
    file.Cut(static_cast<size_t>(i) % kPages * kPageBytes);
    std::this_thread::yield();
  }
  is_over = true;
  for (std::thread& reader : readers) reader.join();
}

TEST(GuardedMappingTest, OtherMemoryFaultsAsBefore) {
  const Ones file(kPageBytes);
  const auto mapping = GuardedMapping::Map(file.fd(), 0, kPageBytes);
  void* unguarded = ::mmap(nullptr, kPageBytes, PROT_READ, MAP_SHARED, file.fd(), 0);
  file.Cut(0);
  EXPECT_DEATH(
      {
        const volatile char byte = *static_cast<const volatile char*>(unguarded);
        static_cast<void>(byte);
      },
      "");
  ::munmap(unguarded, kPageBytes);
}

}  // namespace
}  // namespace opserve::server
