// Programs that share memory and end in the middle of it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "absl/time/clock.h"
#include "tests/server/requests.h"
#include "tests/server/server_process.h"
#include "tests/server/test_server.h"

namespace opserve::testing {
namespace {

constexpr char kNoise[] = "shared_memory_noise";

class SharedMemoryKillTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "opserveXXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    flags_ = {"--listen",
              "127.0.0.1:0",
              "--port-file",
              (folder_ / "addresses").string(),
              "--allow-shared-memory",
              "unix:" + memory_socket()};
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string memory_socket() const { return (folder_ / "memory").string(); }

  std::string Address() const {
    std::string line;
    std::ifstream file(folder_ / "addresses");
    std::getline(file, line);
    return line;
  }

  std::filesystem::path folder_;
  std::vector<std::string> flags_;
};

TEST_F(SharedMemoryKillTest, AKilledClientsRegionsGoWhenItsCallsHaveEnded) {
  ServerProcess server(flags_);
  ASSERT_TRUE(server.WaitForLine("msg=serving")) << server.output();
  Client client(Address());
  for (int round = 0; round < 5; ++round) {
    ServerProcess noise({Address()}, kNoise);
    ASSERT_TRUE(noise.WaitForLine("running")) << noise.output();
    noise.Signal(SIGKILL);
    EXPECT_EQ(noise.Wait(), -SIGKILL);
    const auto regions = [&] { return client.GetStatistics().response.shared_memory().regions(); };
    for (int i = 0; i < 30'000 && regions() != 0; ++i) absl::SleepFor(absl::Milliseconds(1));
    EXPECT_EQ(regions(), 0);
  }
  EXPECT_EQ(client.GetStatistics().response.shared_memory().bytes(), 0);
  EXPECT_EQ(client.GetStatistics().response.shared_memory().allocated(), 5);
  EXPECT_EQ(OutputOf(client.Execute(SampleRequest()).response), SampleGradient());
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0) << server.output();
}

TEST_F(SharedMemoryKillTest, AServerThatStopsTakesNothingFromItsClients) {
  for (const int signal : {SIGTERM, SIGKILL}) {
    ServerProcess server(flags_);
    ASSERT_TRUE(server.WaitForLine("msg=serving")) << server.output();
    ServerProcess noise({Address()}, kNoise);
    ASSERT_TRUE(noise.WaitForLine("running")) << noise.output();
    server.Signal(signal);
    EXPECT_EQ(server.Wait(), signal == SIGTERM ? 0 : -SIGKILL) << server.output();
    EXPECT_EQ(noise.Wait(), 0) << noise.output();
    // A killed server leaves its socket, which the next one replaces.
    EXPECT_EQ(std::filesystem::exists(memory_socket()), signal == SIGKILL);
  }
  ServerProcess server(flags_);
  ASSERT_TRUE(server.WaitForLine("msg=serving")) << server.output();
  const auto second_flags = [&] {
    std::vector<std::string> flags = flags_;
    flags[3] += "2";
    return flags;
  };
  ServerProcess second(second_flags());
  EXPECT_EQ(second.Wait(), 1);
  EXPECT_NE(second.output().find("--allow-shared-memory"), std::string::npos) << second.output();
}

}  // namespace
}  // namespace opserve::testing
