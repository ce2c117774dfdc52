// What holds for every command: ids, answers, quiet, the end.
#include <gtest/gtest.h>

#include <limits>

#include "tests/server/session/session_fixture.h"
#include "tests/support/errors.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

class SessionCommandsTest : public SessionFixture {};

v1::Command CommandWithId(uint64_t id) {
  v1::Command command;
  command.set_id(id);
  command.mutable_create_context()->set_context(id);
  return command;
}

TEST_F(SessionCommandsTest, TheFirstMessageSaysWhatTheSessionMayDo) {
  limits_ = {.memory_limit_bytes = 1,
             .max_handles = 2,
             .max_queued_commands = 3,
             .window_bytes = 4,
             .max_skew_bytes = 5,
             .chunk_bytes = 6,
             .max_message_bytes = 7};
  const v1::SessionInfo& info = session().info();
  EXPECT_EQ(info.memory_limit_bytes(), 1);
  EXPECT_EQ(info.max_handles(), 2);
  EXPECT_EQ(info.max_queued_commands(), 3);
  EXPECT_EQ(info.window_bytes(), 4);
  EXPECT_EQ(info.max_skew_bytes(), 5);
  EXPECT_EQ(info.recommended_chunk_bytes(), 6);
  EXPECT_EQ(info.max_message_bytes(), 7);
}

TEST_F(SessionCommandsTest, IdsMayLeaveGaps) {
  for (const uint64_t id :
       {uint64_t{1}, uint64_t{2}, uint64_t{1000}, std::numeric_limits<uint64_t>::max()}) {
    const Reply reply = session().Do(CommandWithId(id));
    EXPECT_EQ(reply.answers.size(), 1u);
    EXPECT_EQ(reply.last().id(), id);
  }
}

TEST_F(SessionCommandsTest, IdsThatDoNotGrowEndTheSession) {
  session().Do(CommandWithId(5));
  for (const uint64_t id : {0, 1, 4, 5}) {
    const absl::Status status = session().Take(CommandWithId(id));
    const auto detail = GetErrorDetail(status);
    ASSERT_TRUE(detail.has_value()) << status;
    EXPECT_EQ(AclnnCode(*detail), kParamInvalid);
    EXPECT_EQ(detail->parameter, "id");
    EXPECT_EQ(detail->want, "more than 5, the command's before");
    EXPECT_EQ(detail->got, std::to_string(id));
  }
}

TEST_F(SessionCommandsTest, NoCommandEndsTheSession) {
  v1::Command command;
  command.set_id(1);
  const auto detail = GetErrorDetail(session().Take(command));
  ASSERT_TRUE(detail.has_value());
  EXPECT_EQ(AclnnCode(*detail), kParamNullptr);
  EXPECT_EQ(detail->parameter, "command");
}

TEST_F(SessionCommandsTest, QuietCommandsAreAnsweredWhenTheyFail) {
  session().Do("create_context { context: 1 }");
  const uint64_t made = session().Send("quiet: true create_stream { stream: 1 context: 1 }");
  const uint64_t failed = session().Send("quiet: true create_stream { stream: 1 context: 1 }");
  session().Do("destroy_stream { stream: 1 }");
  EXPECT_FALSE(session().answers().contains(made));
  ASSERT_TRUE(session().answers().contains(failed));
  const v1::Answer& answer = session().answers().at(failed).last();
  EXPECT_TRUE(answer.has_error());
  EXPECT_FALSE(answer.more());
}

TEST_F(SessionCommandsTest, QuietIsRefusedForCommandsWithResults) {
  MakeStreams();
  MakeBuffer(1, "12345678");
  for (const char* command :
       {"query_event { event: 1 }", "query_stream { stream: 1 }",
        "query_elapsed_time { start: 1 end: 1 }", "query_memory { context: 1 }",
        "download { source { buffer: 1 row_bytes: 8 } stream: 1 }", "execute {}",
        "execute_chunked {}"}) {
    session().Refuse(absl::StrCat("quiet: true ", command), kInvalid, "quiet");
  }
}

TEST_F(SessionCommandsTest, DrainingIsANotice) {
  session().session().AnnounceDrain();
  session().TakeAnswers();
  ASSERT_EQ(session().answers().size(), 1u);
  EXPECT_TRUE(session().answers().at(0).answers.front().has_draining());
  session().Do("create_context { context: 1 }");  // it goes on
}

TEST_F(SessionCommandsTest, ACutSessionTakesNothing) {
  MakeStreams();
  session().Cut();
  session().Cut();
  EXPECT_THAT(session().Take(CommandWithId(100)), IsOk());
  session().session().EndOfCommands();
  session().session().AnnounceDrain();
  EXPECT_FALSE(session().BeginSending());
}

TEST_F(SessionCommandsTest, ACutDropsWhatWaitsAndLetsGoOfAll) {
  MakeStreams();
  MakeBuffer(1, std::string(1024, 'a'));
  device().Hold(Work::kFill);
  session().Send("fill { destination { buffer: 1 row_bytes: 1024 } pattern: 'a' stream: 1 }");
  device().AwaitHeld(Work::kFill);
  const int64_t uploads = device().begun(Work::kUpload);
  for (int i = 0; i < 100; ++i)
    session().Send("upload { destination { buffer: 1 } stream: 1 }", {std::string(1024, 'b')});
  session().Cut();
  device().Release(Work::kFill);
  session().ExpectNothingLeft();
  EXPECT_EQ(device().begun(Work::kUpload), uploads);
}

}  // namespace
}  // namespace opserve::testing
