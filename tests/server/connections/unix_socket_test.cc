#include "server/connections/unix_socket.h"
#include "tests/support/status_matchers.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace opserve::server {
namespace {

class UnixSocketTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "opserveXXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    path_ = (folder_ / "s").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // A socket bound to path_, listening.
  int Listen() const {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.data(), path_.size());
    EXPECT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(::listen(fd, 1), 0);
    return fd;
  }

  std::filesystem::path folder_;
  std::string path_;
};

TEST_F(UnixSocketTest, NothingThereIsFine) {
  EXPECT_THAT(RemoveStaleSocket(path_), testing::IsOk());
}

TEST_F(UnixSocketTest, RemovesOneThatNobodyListensOn) {
  ::close(Listen());
  ASSERT_TRUE(std::filesystem::exists(path_));
  EXPECT_THAT(RemoveStaleSocket(path_), testing::IsOk());
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(UnixSocketTest, LeavesOneThatAProcessListensOn) {
  const int fd = Listen();
  const absl::Status status = RemoveStaleSocket(path_);
  EXPECT_NE(std::string(status.message()).find("another process listens"), std::string::npos)
      << status;
  EXPECT_TRUE(std::filesystem::exists(path_));
  ::close(fd);
}

TEST_F(UnixSocketTest, NeverRemovesAnythingElse) {
  std::ofstream(path_) << "precious";
  EXPECT_FALSE(RemoveStaleSocket(path_).ok());
  RemoveSocket(path_);
  EXPECT_TRUE(std::filesystem::exists(path_));
  const std::string link = path_ + ".link";
  std::filesystem::create_symlink(path_, link);
  EXPECT_FALSE(RemoveStaleSocket(link).ok());
  EXPECT_TRUE(std::filesystem::exists(link));
}

TEST(UnixSocketPathTest, KnowsBothForms) {
  EXPECT_EQ(UnixSocketPath("unix:/a/b"), "/a/b");
  EXPECT_EQ(UnixSocketPath("unix:b"), "b");
  EXPECT_EQ(UnixSocketPath("unix:///a/b"), "/a/b");
  EXPECT_EQ(UnixSocketPath("localhost:8500"), "");
}

}  // namespace
}  // namespace opserve::server
