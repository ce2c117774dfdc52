// The program itself: flags, port file, signals, exit status.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/server/requests.h"
#include "tests/server/server_process.h"
#include "tests/server/test_server.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

class ServerProgramTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "opserveXXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string port_file() const { return (folder_ / "addresses").string(); }
  std::string socket() const { return "unix:" + (folder_ / "socket").string(); }
  std::vector<std::string> Addresses() const {
    std::vector<std::string> lines;
    std::ifstream file(port_file());
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  std::filesystem::path folder_;
};

TEST_F(ServerProgramTest, ServesWhatThePortFileSaysAndStopsOnSignals) {
  for (const int signal : {SIGTERM, SIGINT}) {
    ServerProcess server({"--listen", "localhost:0", "--listen", socket(), "--port-file",
                          port_file(), "--device", "cpu"});
    ASSERT_TRUE(server.WaitForLine("msg=serving")) << server.output();
    const std::vector<std::string> addresses = Addresses();
    ASSERT_EQ(addresses.size(), 2u);
    EXPECT_EQ(addresses[0].find("localhost:"), 0u);
    EXPECT_NE(addresses[0], "localhost:0");
    EXPECT_EQ(addresses[1], socket());
    for (const std::string& address : addresses) {
      const auto answer = Client(address).Execute(SampleRequest());
      EXPECT_THAT(answer, IsOk());
      EXPECT_EQ(OutputOf(answer.response), SampleGradient());
    }
    server.Signal(signal);
    EXPECT_EQ(server.Wait(), 0) << server.output();
    EXPECT_NE(server.output().find("msg=stopped"), std::string::npos) << server.output();
    EXPECT_FALSE(std::filesystem::exists(folder_ / "socket"));
  }
}

TEST_F(ServerProgramTest, SurvivesAKilledPredecessorsSocket) {
  {
    ServerProcess killed({"--listen", socket()});
    ASSERT_TRUE(killed.WaitForLine("msg=serving")) << killed.output();
    killed.Signal(SIGKILL);
    EXPECT_EQ(killed.Wait(), -SIGKILL);
  }
  ASSERT_TRUE(std::filesystem::exists(folder_ / "socket"));
  ServerProcess server({"--listen", socket()});
  ASSERT_TRUE(server.WaitForLine("msg=serving")) << server.output();
  EXPECT_THAT(Client(socket()).Execute(SampleRequest()), IsOk());
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
}

TEST_F(ServerProgramTest, BadMessagesAreLoggedAtDebugLevelAlone) {
  const std::string call = "\x0a\x03\x0a\x01\xff";  // an operator's name that is not UTF-8
  for (const char* level : {"info", "debug"}) {
    ServerProcess server({"--listen", socket(), "--log-level", level});
    ASSERT_TRUE(server.WaitForLine("msg=serving")) << server.output();
    EXPECT_EQ(Client(socket()).SendBytes("GetWorkspaceSize", call).code, "INVALID_ARGUMENT");
    server.Signal(SIGTERM);
    EXPECT_EQ(server.Wait(), 0);
    EXPECT_EQ(server.output().find("libprotobuf"), std::string::npos) << server.output();
    const bool logged = server.output().find("invalid UTF-8") != std::string::npos;
    EXPECT_EQ(logged, level == std::string("debug")) << server.output();
  }
}

TEST_F(ServerProgramTest, BadFlagsExitTwo) {
  ServerProcess server({"--listen", "8500"});
  EXPECT_EQ(server.Wait(), 2);
  EXPECT_NE(server.output().find("--listen: want host:port"), std::string::npos) << server.output();
}

TEST_F(ServerProgramTest, HelpAndVersionExitZero) {
  for (const char* flag : {"--help", "--version"}) {
    ServerProcess server({flag});
    EXPECT_EQ(server.Wait(), 0);
    EXPECT_NE(server.output().find("opserve-server"), std::string::npos) << server.output();
  }
}

TEST_F(ServerProgramTest, AnAddressThatCannotBeBoundExitsOne) {
  ServerProcess server({"--listen", "unix:" + (folder_ / "no" / "socket").string()});
  EXPECT_EQ(server.Wait(), 1);
  EXPECT_NE(server.output().find("no/socket"), std::string::npos) << server.output();
}

}  // namespace
}  // namespace opserve::testing
