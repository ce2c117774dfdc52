// Shared memory objects that clients register: names, owners, bounds, objects that change.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "server/shared_memory/named_region_table.h"
#include "tests/support/status_matchers.h"

namespace opserve::server {
namespace {

using ::opserve::testing::IsOk;
using ::testing::HasSubstr;

constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
const LocalUser kSelf = {.user = ::getuid(), .token = ClientId::kNone};

// One of so many zeros, gone with the test.
class Object {
 public:
  explicit Object(size_t bytes) : key_(absl::StrCat("/opserve-named-region-", ::getpid())) {
    fd_ = UniqueFd(::shm_open(key_.c_str(), O_CREAT | O_EXCL | O_RDWR, 0600));
    Resize(bytes);
  }
  ~Object() { ::shm_unlink(key_.c_str()); }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  const std::string& key() const { return key_; }
  void Resize(size_t bytes) const {
    EXPECT_EQ(::ftruncate(fd_.get(), static_cast<off_t>(bytes)), 0);
  }
  void Fill(size_t bytes) const {
    const std::string contents(bytes, 'x');
    EXPECT_EQ(::pwrite(fd_.get(), contents.data(), bytes, 0), static_cast<ssize_t>(bytes));
  }
  off_t size() const { return ::lseek(fd_.get(), 0, SEEK_END); }
  char At(off_t place) const {
    char byte = 0;
    EXPECT_EQ(::pread(fd_.get(), &byte, 1, place), 1);
    return byte;
  }

 private:
  const std::string key_;
  UniqueFd fd_;
};

void ExpectRefused(const absl::Status& status, ErrorReason reason, const std::string& parameter) {
  const std::optional<ErrorDetail> detail = GetErrorDetail(status);
  ASSERT_TRUE(detail.has_value()) << status;
  EXPECT_EQ(detail->reason, reason) << status;
  EXPECT_EQ(detail->parameter, parameter) << status;
}

TEST(NamedRegionTest, BytesGoInAndOut) {
  const Object object(64);
  const auto region = NamedRegion::Open({"r", object.key(), 16, 32}, kSelf.user);
  ASSERT_THAT(region, IsOk());
  std::array<std::byte, 4> bytes = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  EXPECT_THAT((*region)->Write(8, bytes, "out"), IsOk());
  EXPECT_EQ(object.At(24), 1);
  EXPECT_EQ(object.At(27), 4);
  bytes = {};
  EXPECT_THAT((*region)->Read(9, bytes, "in"), IsOk());
  EXPECT_EQ(bytes[0], std::byte{2});
}

TEST(NamedRegionTest, TensorsLieInside) {
  const Object object(64);
  const auto region = NamedRegion::Open({"r", object.key(), 16, 32}, kSelf.user);
  ASSERT_THAT(region, IsOk());
  EXPECT_THAT((*region)->CheckInside(0, 32, "t"), IsOk());
  EXPECT_THAT((*region)->CheckInside(32, 0, "t"), IsOk());
  for (const auto& [offset, bytes] : std::vector<std::pair<uint64_t, uint64_t>>{
           {0, 33}, {1, 32}, {33, 0}, {kMost, 1}, {1, kMost}, {kMost, kMost}})
    ExpectRefused((*region)->CheckInside(offset, bytes, "t"), ErrorReason::kOutOfRange, "t");
}

TEST(NamedRegionTest, RegionsLieInsideTheirObject) {
  const Object object(64);
  EXPECT_THAT(NamedRegion::Open({"r", object.key(), 0, 64}, kSelf.user), IsOk());
  EXPECT_THAT(NamedRegion::Open({"r", object.key(), 63, 1}, kSelf.user), IsOk());
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{61}, kMost, kMost - 3}) {
    ExpectRefused(NamedRegion::Open({"r", object.key(), 4, bytes}, kSelf.user).status(),
                  ErrorReason::kOutOfRange, "byte_size");
  }
  for (const uint64_t offset : {uint64_t{65}, kMost}) {
    ExpectRefused(NamedRegion::Open({"r", object.key(), offset, 1}, kSelf.user).status(),
                  ErrorReason::kOutOfRange, "offset");
  }
}

TEST(NamedRegionTest, KeysAreNamesOfObjects) {
  for (const std::string& key :
       {std::string(), std::string("/"), std::string("//a"), std::string("/a/b"), std::string(".."),
        std::string("/."), std::string("a..b"), std::string("a\0b", 3), std::string(256, 'k')}) {
    ExpectRefused(NamedRegion::Open({"r", key, 0, 1}, kSelf.user).status(),
                  ErrorReason::kInvalidParameter, "key");
  }
  const Object object(8);
  EXPECT_THAT(NamedRegion::Open({"r", object.key().substr(1), 0, 8}, kSelf.user), IsOk());
  for (const std::string& name : {std::string(), std::string(256, 'n')}) {
    ExpectRefused(NamedRegion::Open({name, object.key(), 0, 8}, kSelf.user).status(),
                  ErrorReason::kInvalidParameter, "name");
  }
}

TEST(NamedRegionTest, ObjectsOfOthersAreRefused) {
  const Object object(8);
  const absl::Status status = NamedRegion::Open({"r", object.key(), 0, 8}, kSelf.user + 1).status();
  ExpectRefused(status, ErrorReason::kPermissionDenied, "key");
  EXPECT_THAT(std::string(status.message()), HasSubstr("of the client's user"));
}

TEST(NamedRegionTest, AnObjectThatBecomesShorterIsAnError) {
  const Object object(16384);
  const auto region = NamedRegion::Open({"r", object.key(), 0, 16384}, kSelf.user);
  ASSERT_THAT(region, IsOk());
  object.Resize(8192);
  std::array<std::byte, 8> bytes = {};
  ExpectRefused((*region)->Read(8190, bytes, "t"), ErrorReason::kOutOfRange, "t");
  ExpectRefused((*region)->Write(8190, bytes, "t"), ErrorReason::kOutOfRange, "t");
  EXPECT_EQ(object.size(), 8192);  // writing does not make it longer
  EXPECT_THAT((*region)->Write(8184, bytes, "t"), IsOk());
}

TEST(NamedRegionTest, WholeObjectsAreReadWhereTheyAre) {
  const Object object(16384);
  const auto region = NamedRegion::Open({"r", object.key(), 4096, 8192}, kSelf.user);
  ASSERT_THAT(region, IsOk());
  EXPECT_EQ((*region)->Map(0, 8192), nullptr);  // sparse: reading would fill it
  object.Fill(16384);
  const auto mapping = (*region)->Map(1, 8191);
  ASSERT_NE(mapping, nullptr);
  EXPECT_EQ(mapping->bytes().size(), 8191u);
  EXPECT_EQ(mapping->bytes()[8190], std::byte{'x'});
  EXPECT_THAT((*region)->CheckUncut(*mapping, "t"), IsOk());
  object.Resize(8192);
  EXPECT_EQ((*region)->Map(0, 8192), nullptr);
  EXPECT_EQ(mapping->bytes()[8190], std::byte{0});
  ExpectRefused((*region)->CheckUncut(*mapping, "t"), ErrorReason::kOutOfRange, "t");
}

TEST(NamedRegionTableTest, RegionsAreTheirClients) {
  const Object object(8);
  NamedRegionTable table(1);
  const LocalUser with_token = {.user = kSelf.user, .token = ClientId{7}};
  EXPECT_THAT(table.Register(kSelf, {"r", object.key(), 0, 8}), IsOk());
  const absl::Status again = table.Register(kSelf, {"r", object.key(), 0, 4});
  ExpectRefused(again, ErrorReason::kIdInUse, "name");
  EXPECT_EQ(again.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(table.Find(with_token, "r"), nullptr);
  EXPECT_THAT(table.Register(with_token, {"r", object.key(), 0, 4}), IsOk());
  EXPECT_EQ(table.Find(kSelf, "r")->spec().byte_size, 8u);
  EXPECT_EQ(table.Find(with_token, "r")->spec().byte_size, 4u);
  table.Unregister(with_token, "");
  EXPECT_TRUE(table.List(with_token).empty());
  EXPECT_EQ(table.List(kSelf).size(), 1u);
  table.Unregister(kSelf, "other");
  const auto held = table.Find(kSelf, "r");
  table.Unregister(kSelf, "r");
  EXPECT_EQ(table.Find(kSelf, "r"), nullptr);
  std::array<std::byte, 8> bytes = {};
  EXPECT_THAT(held->Read(0, bytes, "t"), IsOk());  // by who has it still
}

TEST(NamedRegionTableTest, RegionsAreBounded) {
  const Object object(8);
  NamedRegionTable table(0.5);
  const LocalUser other = {.user = kSelf.user, .token = ClientId{7}};
  int64_t count = 0;
  absl::Status status;
  for (; status.ok(); ++count)
    status = table.Register(kSelf, {absl::StrCat("r", count), object.key(), 0, 8});
  EXPECT_EQ(count - 1, kMaxNamedRegions / 2);
  ExpectRefused(status, ErrorReason::kResourceLimit, "regions");
  EXPECT_THAT(table.Register(other, {"r", object.key(), 0, 8}), IsOk());
  table.Unregister(kSelf, "r0");
  table.Unregister(kSelf, "");
  EXPECT_THAT(table.Register(kSelf, {"r", object.key(), 0, 8}), IsOk());
}

TEST(NamedRegionTableTest, CountsWhatIsRegistered) {
  constexpr auto kHuge = uint64_t{1} << 62;
  const Object object(kHuge);  // sparse
  NamedRegionTable table(1);
  const LocalUser other = {.user = kSelf.user, .token = ClientId{7}};
  EXPECT_EQ(table.stats().regions, 0);
  for (const char* name : {"a", "b", "c", "d"})
    EXPECT_THAT(table.Register(kSelf, {name, object.key(), 0, kHuge}), IsOk());
  EXPECT_THAT(table.Register(other, {"a", object.key(), 0, kHuge}), IsOk());
  EXPECT_EQ(table.stats().regions, 5);
  EXPECT_EQ(table.stats().bytes, 5 * static_cast<double>(kHuge));
  table.Unregister(kSelf, "");
  EXPECT_EQ(table.stats().regions, 1);
  EXPECT_EQ(table.stats().bytes, static_cast<double>(kHuge));
}

}  // namespace
}  // namespace opserve::server
