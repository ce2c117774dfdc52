#include "server/connections/listener.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "tests/support/status_matchers.h"

namespace opserve::server {
namespace {

class UnixListenerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "opserveXXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    path_ = (folder_ / "s").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
  std::string path_;
};

mode_t ModeOf(const std::string& path) {
  struct stat info = {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0);
  return info.st_mode & 0777;
}

TEST_F(UnixListenerTest, HasItsModeWhateverTheUmask) {
  for (const mode_t umask : {0u, 0777u}) {
    for (const mode_t mode : {0600u, 0660u, 0777u}) {
      const mode_t before = ::umask(umask);
      const absl::StatusOr<Listening> listening = Listen("unix:" + path_, mode);
      ::umask(before);
      ASSERT_THAT(listening, testing::IsOk());
      EXPECT_EQ(ModeOf(path_), mode);
      EXPECT_EQ(listening->address, "unix:" + path_);
      ASSERT_EQ(listening->listeners.size(), 1u);
      EXPECT_TRUE(listening->listeners[0].is_unix);
    }
  }
}

TEST_F(UnixListenerTest, LeavesWhatIsNotASocket) {
  std::ofstream(path_) << "precious";
  EXPECT_FALSE(Listen("unix:" + path_, 0600).ok());
  EXPECT_TRUE(std::filesystem::exists(path_));
}

TEST(TcpListenerTest, BindsAllAddressesOfANameOnOnePort) {
  const absl::StatusOr<Listening> listening = Listen("localhost:0", 0600);
  ASSERT_THAT(listening, testing::IsOk());
  EXPECT_FALSE(listening->listeners.empty());
  EXPECT_EQ(listening->address.rfind("localhost:", 0), 0u);
  EXPECT_NE(listening->address, "localhost:0");
  for (const Listener& listener : listening->listeners) {
    int listens = 0;
    socklen_t size = sizeof(listens);
    ::getsockopt(listener.socket.get(), SOL_SOCKET, SO_ACCEPTCONN, &listens, &size);
    EXPECT_EQ(listens, 1);
    EXPECT_FALSE(listener.is_unix);
  }
}

TEST(TcpListenerTest, RefusesAPortThatIsTaken) {
  const absl::StatusOr<Listening> first = Listen("127.0.0.1:0", 0600);
  ASSERT_THAT(first, testing::IsOk());
  const absl::StatusOr<Listening> second = Listen(first->address, 0600);
  ASSERT_FALSE(second.ok());
  EXPECT_TRUE(absl::StrContains(second.status().message(), first->address)) << second.status();
  EXPECT_TRUE(absl::StrContains(second.status().message(), "--listen")) << second.status();
}

TEST(TcpListenerTest, AHostThatIsNoneIsToldOf) {
  const absl::Status status = Listen("no.such.host.invalid:1", 0600).status();
  EXPECT_NE(status.message().find("no.such.host.invalid:1, which cannot: "), std::string::npos)
      << status;
  EXPECT_FALSE(Listen("192.0.2.1:0", 0600).ok());
}

TEST(ListenTest, AUnixSocketHasItsPermissions) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "listen_test_unix";
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "socket").string();
  const mode_t mask = ::umask(0);
  for (const unsigned mode : {0600u, 0660u, 0666u}) {
    const absl::StatusOr<Listening> listening = Listen("unix:" + path, mode);
    ASSERT_THAT(listening, testing::IsOk());
    struct stat info = {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, mode);
    EXPECT_FALSE(Listen("unix:" + path, mode).ok());  // somebody listens there
  }
  ::umask(mask);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace opserve::server
