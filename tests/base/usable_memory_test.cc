#include "core/base/usable_memory.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"

namespace opserve {
namespace {

class CgroupMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "opserveXXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::optional<int64_t> Limit() const { return CgroupMemoryBytes(root_.string()); }

 private:
  std::filesystem::path root_;
};

TEST_F(CgroupMemoryTest, NoCgroupNoLimit) {
  EXPECT_EQ(Limit(), std::nullopt);
  Write("proc/self/cgroup", "nonsense\n\n");
  EXPECT_EQ(Limit(), std::nullopt);
}

TEST_F(CgroupMemoryTest, TheTightestOfTheAncestorsCounts) {
  Write("proc/self/cgroup", "0::/a/b\n");
  EXPECT_EQ(Limit(), std::nullopt);
  Write("sys/fs/cgroup/a/b/memory.max", "max\n");
  EXPECT_EQ(Limit(), std::nullopt);
  Write("sys/fs/cgroup/a/memory.max", "268435456\n");
  EXPECT_EQ(Limit(), 268435456);
  Write("sys/fs/cgroup/a/b/memory.max", "536870912\n");
  EXPECT_EQ(Limit(), 268435456);
  Write("sys/fs/cgroup/a/b/memory.max", "4096\n");
  EXPECT_EQ(Limit(), 4096);
}

TEST_F(CgroupMemoryTest, AContainersOwnGroupIsTheRoot) {
  Write("proc/self/cgroup", "0::/\n");
  Write("sys/fs/cgroup/memory.max", "1048576\n");
  EXPECT_EQ(Limit(), 1048576);
}

TEST_F(CgroupMemoryTest, VersionOne) {
  Write("proc/self/cgroup", "4:cpu,cpuacct:/x\n3:hugetlb,memory:/docker/abc\n");
  Write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(Limit(), std::nullopt);
  Write("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "134217728\n");
  EXPECT_EQ(Limit(), 134217728);
  Write("sys/fs/cgroup/memory/memory.limit_in_bytes", "67108864\n");
  EXPECT_EQ(Limit(), 67108864);
}

TEST(UsableMemoryTest, ThereIsSome) { EXPECT_GT(UsableMemoryBytes(), 1 << 20); }

}  // namespace
}  // namespace opserve
