#include "server/shared_memory/region_table.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include "core/base/op_error.h"
#include "google/rpc/error_details.pb.h"
#include "server/shared_memory/region_owner.h"
#include "tests/support/errors.h"
#include "tests/support/status_matchers.h"

namespace opserve::server {
namespace {

using opserve::testing::AclnnCode;
using opserve::testing::kParamInvalid;

constexpr int64_t kLimit = 1 << 20;

ErrorDetail DetailOf(const absl::Status& status) {
  return GetErrorDetail(status).value_or(ErrorDetail());
}

std::byte* MapOf(const UniqueFd& fd, size_t size) {
  void* address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  EXPECT_NE(address, MAP_FAILED);
  return static_cast<std::byte*>(address);
}

TEST(RegionTableTest, ARegionIsTheClientsMemoryToo) {
  RegionTable table(kLimit);
  absl::StatusOr<RegionTable::NewRegion> made = table.Allocate(5000);
  ASSERT_THAT(made, testing::IsOk());
  EXPECT_EQ(made->region->bytes().size(), 5000u);
  EXPECT_EQ(made->region->id().size(), 16u);
  EXPECT_EQ(made->region->bytes()[4999], std::byte{0});
  EXPECT_EQ(table.Find(made->region->id()), made->region);
  std::byte* client = MapOf(made->fd, 5000);
  client[4999] = std::byte{7};
  EXPECT_EQ(made->region->bytes()[4999], std::byte{7});
  ::munmap(client, 5000);
}

TEST(RegionTableTest, ItCanNeitherShrinkNorGrow) {
  RegionTable table(kLimit);
  const absl::StatusOr<RegionTable::NewRegion> made = table.Allocate(8192);
  ASSERT_THAT(made, testing::IsOk());
  const int fd = made->fd.get();
  EXPECT_NE(::ftruncate(fd, 0), 0);
  EXPECT_NE(::ftruncate(fd, 4096), 0);
  EXPECT_NE(::ftruncate(fd, 1 << 20), 0);
  EXPECT_NE(::fallocate(fd, 0, 8192, 4096), 0);
  EXPECT_NE(::fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), 0);
  // A hole is zeros, not the end of what uses it.
  made->region->bytes()[0] = std::byte{1};
  EXPECT_EQ(::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 8192), 0);
  EXPECT_EQ(made->region->bytes()[0], std::byte{0});
}

TEST(RegionTableTest, IdsAreAllDifferent) {
  RegionTable table(kLimit);
  std::set<std::string> ids;
  for (int i = 0; i < 100; ++i) ids.insert(table.Allocate(1)->region->id());
  EXPECT_EQ(ids.size(), 100u);
}

TEST(RegionTableTest, TheLimitHoldsInWholePages) {
  RegionTable table(kLimit);
  for (const int64_t size : {int64_t{0}, int64_t{-1}, std::numeric_limits<int64_t>::min()}) {
    const absl::Status status = table.Allocate(size).status();
    EXPECT_EQ(AclnnCode(DetailOf(status)), kParamInvalid) << status;
    EXPECT_EQ(DetailOf(status).parameter, "size_bytes");
  }
  for (const int64_t size : {kLimit + 1, std::numeric_limits<int64_t>::max()}) {
    const absl::Status status = table.Allocate(size).status();
    EXPECT_EQ(DetailOf(status).reason, ErrorReason::kResourceLimit) << status;
    EXPECT_EQ(DetailOf(status).parameter, "size_bytes");
  }
  const absl::StatusOr<RegionTable::NewRegion> first = table.Allocate(kLimit - 4096);
  ASSERT_THAT(first, testing::IsOk());
  const absl::StatusOr<RegionTable::NewRegion> second = table.Allocate(1);
  ASSERT_THAT(second, testing::IsOk());
  EXPECT_EQ(table.stats().bytes, kLimit);
  EXPECT_FALSE(table.Allocate(1).ok());
  EXPECT_EQ(table.stats().refused, 6);
  EXPECT_EQ(table.stats().allocated, 2);
}

TEST(RegionTableTest, SoDoesTheirNumber) {
  RegionTable table(int64_t{1} << 40);
  std::vector<RegionTable::NewRegion> regions;
  for (int64_t i = 0; i < kMaxRegions; ++i) {
    absl::StatusOr<RegionTable::NewRegion> made = table.Allocate(1);
    ASSERT_THAT(made, testing::IsOk()) << i;
    made->fd = UniqueFd();
    regions.push_back(*std::move(made));
  }
  EXPECT_EQ(DetailOf(table.Allocate(1).status()).parameter, "regions");
}

TEST(RegionTableTest, AReleasedRegionGoesWithItsLastUser) {
  RegionTable table(kLimit);
  absl::StatusOr<RegionTable::NewRegion> made = table.Allocate(4096);
  ASSERT_THAT(made, testing::IsOk());
  std::byte* client = MapOf(made->fd, 4096);
  client[0] = std::byte{9};
  std::shared_ptr<SharedRegion> in_use = std::move(made->region);
  table.Release(in_use->id(), RegionTable::Contents::kDiscarded);
  EXPECT_EQ(table.Find(in_use->id()), nullptr);
  EXPECT_EQ(table.stats().regions, 1);
  EXPECT_EQ(in_use->bytes()[0], std::byte{9});
  in_use.reset();
  EXPECT_EQ(table.stats().regions, 0);
  EXPECT_EQ(table.stats().bytes, 0);
  // Who kept it mapped keeps no memory.
  EXPECT_EQ(client[0], std::byte{0});
  ::munmap(client, 4096);
}

TEST(RegionTableTest, WhatIsKeptStaysForThoseThatMapIt) {
  RegionTable table(kLimit);
  absl::StatusOr<RegionTable::NewRegion> made = table.Allocate(4096);
  ASSERT_THAT(made, testing::IsOk());
  std::byte* client = MapOf(made->fd, 4096);
  client[0] = std::byte{9};
  table.Release(made->region->id(), RegionTable::Contents::kKept);
  made->region.reset();
  EXPECT_EQ(table.stats().regions, 0);
  EXPECT_EQ(client[0], std::byte{9});
  ::munmap(client, 4096);
}

// ---- what a client says
// ---------------------------------------------------------------------------

class RegionOwnerTest : public ::testing::Test {
 protected:
  struct Reply {
    v1::SharedMemoryResponse response;
    bool has_fd = false;
    bool is_last = false;
    // "RESOURCE_LIMIT size_bytes", of an error.
    std::string why;
  };

  static Reply Say(RegionOwner& owner, const std::string& bytes) {
    const MemoryAnswer answer = owner.Handle(std::as_bytes(std::span(bytes)));
    Reply reply{
        .response = {}, .has_fd = answer.fd.is_open(), .is_last = answer.is_last, .why = {}};
    EXPECT_FALSE(answer.bytes.empty());
    EXPECT_TRUE(reply.response.ParseFromString(answer.bytes));
    google::rpc::ErrorInfo info;
    for (const auto& detail : reply.response.error().details())
      EXPECT_TRUE(info.ParseFromString(detail.value()));
    if (reply.response.has_error())
      reply.why = info.reason() + " " + info.metadata().at("parameter");
    return reply;
  }

  static std::string Allocate(int64_t size_bytes) {
    v1::SharedMemoryRequest request;
    request.mutable_allocate()->set_size_bytes(size_bytes);
    return request.SerializeAsString();
  }
  static std::string Release(const std::string& id) {
    v1::SharedMemoryRequest request;
    request.mutable_release()->set_id(id);
    return request.SerializeAsString();
  }

  RegionTable table_{kLimit};
};

TEST_F(RegionOwnerTest, AllocatesAndReleases) {
  RegionOwner owner(table_);
  const Reply made = Say(owner, Allocate(100));
  EXPECT_EQ(made.why, "");
  EXPECT_TRUE(made.has_fd);
  EXPECT_EQ(made.response.region().size_bytes(), 100);
  EXPECT_NE(table_.Find(made.response.region().id()), nullptr);
  const Reply released = Say(owner, Release(made.response.region().id()));
  EXPECT_TRUE(released.response.has_released());
  EXPECT_FALSE(released.has_fd);
  EXPECT_EQ(table_.stats().regions, 0);
  EXPECT_EQ(Say(owner, Release(made.response.region().id())).why, "OBJECT_NOT_FOUND region");
}

TEST_F(RegionOwnerTest, RefusesWithoutEnding) {
  RegionOwner owner(table_);
  EXPECT_EQ(Say(owner, Allocate(0)).why, "OUT_OF_RANGE size_bytes");
  const Reply reply = Say(owner, Allocate(kLimit + 1));
  EXPECT_EQ(reply.why, "RESOURCE_LIMIT size_bytes");
  EXPECT_FALSE(reply.is_last);
  EXPECT_FALSE(reply.has_fd);
  EXPECT_EQ(Say(owner, Allocate(kLimit)).why, "");
}

TEST_F(RegionOwnerTest, EndsWhatIsNoRequest) {
  for (const std::string& bytes : {std::string("garbage"), std::string(1, '\xff'),
                                   std::string(kMaxMemoryRequestBytes + 1, '\0'), std::string()}) {
    RegionOwner owner(table_);
    const Reply reply = Say(owner, bytes);
    EXPECT_EQ(reply.why, "MALFORMED_MESSAGE message") << bytes.size();
    EXPECT_TRUE(reply.is_last);
  }
}

TEST_F(RegionOwnerTest, NobodyReleasesAnothersRegionAndAllOfOnesOwnGoWithOne) {
  RegionOwner other(table_);
  std::string id;
  {
    RegionOwner owner(table_);
    id = Say(owner, Allocate(1)).response.region().id();
    Say(owner, Allocate(1));
    EXPECT_EQ(Say(other, Release(id)).why, "OBJECT_NOT_FOUND region");
    EXPECT_EQ(table_.stats().regions, 2);
  }
  EXPECT_EQ(table_.stats().regions, 0);
  EXPECT_EQ(table_.Find(id), nullptr);
}

}  // namespace
}  // namespace opserve::server
