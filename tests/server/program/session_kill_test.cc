// Clients that are killed at any point of their sessions leave nothing behind. OPSERVE_KILL_SECONDS
// says for how long (10).
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "absl/strings/numbers.h"
#include "tests/fuzz/session_script.h"
#include "tests/server/requests.h"
#include "tests/server/session_client.h"
#include "tests/server/test_server.h"
#include "tests/support/seed.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

constexpr int kProcesses = 3;
constexpr int64_t kMaxSessions = 8;

absl::Duration KillTime() {
  int seconds = 10;
  const char* text = std::getenv("OPSERVE_KILL_SECONDS");
  EXPECT_TRUE(text == nullptr || absl::SimpleAtoi(text, &seconds)) << text;
  return absl::Seconds(seconds);
}

// session_noise, killed by the destructor.
class NoisyProcess {
 public:
  NoisyProcess(const std::string& address, uint64_t seed) {
    const char* folder = std::getenv("OPSERVE_BIN_DIR");
    EXPECT_NE(folder, nullptr) << "OPSERVE_BIN_DIR is not set: run this through ctest";
    std::string program = std::string(folder == nullptr ? "" : folder) + "/session_noise";
    std::string words[] = {address, std::to_string(seed)};
    char* argv[] = {program.data(), words[0].data(), words[1].data(), nullptr};
    EXPECT_EQ(::posix_spawn(&pid_, program.c_str(), nullptr, nullptr, argv, environ), 0) << program;
  }
  ~NoisyProcess() {
    if (pid_ <= 0) return;
    EXPECT_EQ(::waitpid(pid_, nullptr, WNOHANG), 0) << "it ended before it was killed";
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  NoisyProcess(const NoisyProcess&) = delete;
  NoisyProcess& operator=(const NoisyProcess&) = delete;

 private:
  pid_t pid_ = -1;
};

class SessionKillTest : public ServerTest {
 protected:
  SessionKillTest() {
    config_.max_sessions = kMaxSessions;
    config_.clients.share = 1;
    config_.session.stall_timeout = absl::Seconds(2);
  }

  std::string AnyAddress() { return server().addresses()[rng_() % 2]; }

  // Sends some commands on a connection of this process, then breaks off in one of three ways.
  void BreakOffHere() {
    SessionClient client(AnyAddress());
    if (!client.Receive().has_value()) return;  // the others have all the sessions
    std::string bytes(rng_() % 300, '\0');
    for (char& byte : bytes) byte = static_cast<char>(rng_());
    fuzz::SessionScript script(bytes);
    for (auto command = script.Next(); command.has_value(); command = script.Next()) {
      if (!client.Send(command->request, command->raw)) return;  // it was cut: it reads nothing
    }
    if (rng_() % 3 == 0) client.Cancel();
    if (rng_() % 3 == 0) client.HalfClose();
    client.Vanish();
  }

  void AwaitEmpty() {
    const absl::Time end = Clock::Real().Now() + absl::Minutes(1);
    while (Clock::Real().Now() < end) {
      const auto answer = tcp().ListDevices();
      ASSERT_THAT(answer, IsOk());
      if (answer.response.devices(0).memory().used_bytes() == 0) return;
    }
    FAIL() << used_bytes() << " bytes are lent a minute after the last client went";
  }

  // There is room for as many sessions as there may be, sooner or later.
  void ExpectNoSessions() {
    const absl::Time end = Clock::Real().Now() + absl::Minutes(1);
    while (Clock::Real().Now() < end) {
      std::vector<std::unique_ptr<SessionClient>> clients;
      int64_t open = 0;
      for (int i = 0; i < kMaxSessions; ++i) {
        clients.push_back(std::make_unique<SessionClient>(server().addresses()[0]));
        open += clients.back()->Receive().has_value() ? 1 : 0;
      }
      if (open == kMaxSessions) return;
    }
    FAIL() << "sessions of clients that are gone are still there after a minute";
  }

  Rng rng_ = MakeRng(4);
};

TEST_F(SessionKillTest, NothingIsLeft) {
  std::vector<std::unique_ptr<NoisyProcess>> processes(kProcesses);
  const absl::Time end = Clock::Real().Now() + KillTime();
  int kills = 0;
  while (Clock::Real().Now() < end && !HasFailure()) {
    std::unique_ptr<NoisyProcess>& process = processes[rng_() % kProcesses];
    if (process != nullptr) ++kills;
    process = nullptr;
    process = std::make_unique<NoisyProcess>(AnyAddress(), rng_());
    for (auto left = rng_() % 8; left > 0; --left) BreakOffHere();
    for (auto left = rng_() % 100; left > 0; --left) ASSERT_THAT(tcp().ListDevices(), IsOk());
  }
  processes.clear();
  RecordProperty("kills", kills);
  EXPECT_GT(kills, 0);
  AwaitEmpty();
  ExpectNoSessions();
  ExpectAliveAndEmpty();
}

}  // namespace
}  // namespace opserve::testing
