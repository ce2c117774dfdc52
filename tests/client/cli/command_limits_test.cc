// The `opserve` command where no server listens, and where one takes only small messages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/client/cli/process.h"

namespace opserve::client {
namespace {

using ::testing::MatchesRegex;

TEST(CommandLimitsTest, UnreachableServersAreNamed) {
  const Finished done = RunProgram("opserve", {"info", "--target", "unix:/nonexistent/socket"});
  EXPECT_EQ(done.exit_code, 3);
  EXPECT_THAT(done.err,
              MatchesRegex("opserve: unix:/nonexistent/socket: .*; start opserve-server there, or "
                           "name another server with --target .UNAVAILABLE.\n"));
}

TEST(CommandLimitsTest, TooLargeRequestsNameTheLimit) {
  const ServerProcess small({"--max-message-bytes", "1048576"});
  ASSERT_FALSE(small.unix_target().empty());
  const Finished done =
      RunProgram("opserve", {"run", "L1LossBackward", "-i", "grad_output=f32[1000000]=1", "-i",
                             "self=1", "-i", "target=1", "--target", small.unix_target()});
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_THAT(done.err,
              MatchesRegex("opserve: L1LossBackward: max_message_bytes: want a request of at most "
                           "1048576 bytes.*got 4000... bytes; --session .*RESOURCE_EXHAUSTED.\n"));
}

TEST(CommandLimitsTest, TooLargeAnswersAreHintedAtTheSession) {
  const ServerProcess small({"--max-message-bytes", "1048576"});
  ASSERT_FALSE(small.unix_target().empty());
  const Finished done = RunProgram(
      "opserve", {"run", "L1Loss", "-i", "self=f32[1000,1]=1", "-i", "target=f32[1,1000]=1", "-a",
                  "reduction=none", "--target", small.unix_target()});
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_THAT(done.err,
              MatchesRegex("opserve: L1Loss: max_message_bytes: want an answer of at most "
                           "1048576 bytes, got 4000... bytes; --session .*RESOURCE_EXHAUSTED.\n"));
}

}  // namespace
}  // namespace opserve::client
