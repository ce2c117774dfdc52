// No order of commands can deadlock: whatever is sent, and however late the client reads, all is
// answered and comes to an end.
#include <gtest/gtest.h>

#include "tests/fuzz/session_script.h"
#include "tests/server/session/session_fixture.h"
#include "tests/support/run.h"
#include "tests/support/seed.h"

namespace opserve::testing {
namespace {

server::SessionLimits TinyLimits(Rng& rng) {
  return {.memory_limit_bytes = 100'000,
          .max_handles = 40,
          .max_queued_commands = static_cast<int64_t>(20 + rng() % 200),
          .window_bytes = static_cast<int64_t>(300 + rng() % 5000),
          .max_skew_bytes = 256,
          .chunk_bytes = static_cast<int64_t>(16 + rng() % 300),
          .max_message_bytes = 16384};
}

// How a client reads: not before it must, or a few answers at a time.
enum class Reading : uint8_t { kLate, kSome, kAtOnce };

void Read(SessionHarness& session, Reading reading, Rng& rng) {
  if (reading == Reading::kAtOnce) session.TakeAnswers();
  for (auto left = reading == Reading::kSome ? rng() % 3 : 0; left > 0; --left) {
    if (session.BeginSending()) session.EndSending();
  }
}

// Until the server reads again. A client that reads late takes no more answers than that takes.
void AwaitRoom(SessionHarness& session) {
  session.AwaitThat([&session] {
    while (!session.MayRead()) {
      if (!session.BeginSending()) return false;
      session.EndSending();
    }
    return true;
  });
}

class SessionProgressTest : public ::testing::TestWithParam<Reading> {
 protected:
  // Those that must be answered.
  std::vector<uint64_t> SendAll(SessionHarness& session, Rng& rng) {
    std::vector<uint64_t> answered;
    const std::string bytes = Noise(2000, rng());
    fuzz::SessionScript script(bytes);
    for (auto command = script.Next(); command.has_value(); command = script.Next()) {
      AwaitRoom(session);
      if (!command->request.quiet() && !command->request.has_input_chunk())
        answered.push_back(command->request.id());
      session.Send(command->request, command->raw);
      Read(session, GetParam(), rng);
    }
    return answered;
  }
};

INSTANTIATE_TEST_SUITE_P(Readings, SessionProgressTest,
                         ::testing::Values(Reading::kLate, Reading::kSome, Reading::kAtOnce));

TEST_P(SessionProgressTest, RandomCommandsComeToAnEnd) {
  const std::unique_ptr<Engine> engine = MakeEngine(2);
  Rng rng = MakeRng(2);
  for (int i = 0; i < 60 && !HasFailure(); ++i) {
    SessionHarness session(*engine, TinyLimits(rng));
    const std::vector<uint64_t> answered = SendAll(session, rng);
    session.HalfClose();
    session.AwaitIdle();
    for (const uint64_t id : answered) {
      const auto found = session.answers().find(id);
      ASSERT_TRUE(found != session.answers().end()) << id;
      ASSERT_FALSE(found->second.last().more()) << id;
    }
  }
}

TEST_P(SessionProgressTest, RandomCommandsMayBeCutAnywhere) {
  const std::unique_ptr<Engine> engine = MakeEngine(2);
  Rng rng = MakeRng(3);
  for (int i = 0; i < 60 && !HasFailure(); ++i) {
    SessionHarness session(*engine, TinyLimits(rng));
    const std::string bytes = Noise(200 + rng() % 1000, rng());
    fuzz::SessionScript script(bytes);
    for (auto command = script.Next(); command.has_value(); command = script.Next())
      session.Send(command->request, command->raw);  // whatever the window says
    if (rng() % 2 == 0) session.Cut();
    session.ExpectNothingLeft();
  }
}

}  // namespace
}  // namespace opserve::testing
