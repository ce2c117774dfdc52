// Commands that fail in their stream's turn, and who is told.
#include <gtest/gtest.h>

#include "tests/server/session/session_fixture.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

class SessionFailuresTest : public SessionFixture {
 protected:
  void SetUp() override {
    session().Do("create_context { context: 1 }");
    session().Do("create_stream { stream: 1 context: 1 on_failure: ON_FAILURE_STOP }");
    session().Do("create_stream { stream: 2 context: 1 on_failure: ON_FAILURE_CONTINUE }");
    MakeBuffer(1, std::string(64, '-'));
    MakeBuffer(2, std::string(64, '-'));
  }

  uint64_t Fill(int stream) {
    return session().Send(absl::StrCat("fill { destination { buffer: ", stream,
                                       " row_bytes: 64 } pattern: 'f' stream: ", stream, " }"));
  }
  // A command of the stream that the device fails.
  uint64_t Fail(int stream) {
    device().FailNext(Work::kFill);
    const uint64_t id = Fill(stream);
    const Reply reply = session().Await(id);
    EXPECT_EQ(reply.reason(), kBroken);
    EXPECT_EQ(reply.part("code"), "361001");
    return id;
  }
  // Synchronize tells of `command`.
  void ExpectTold(std::string_view synchronize, uint64_t command) {
    const Reply reply = session().Refuse(synchronize, kBroken, "device");
    EXPECT_EQ(reply.last().failed_command(), command);
  }
};

TEST_F(SessionFailuresTest, AStreamThatStops) {
  const uint64_t failed = Fail(1);
  for (int i = 0; i < 2; ++i) {
    const Reply reply = session().Await(Fill(1));
    EXPECT_EQ(reply.reason(), kStreamFailed);
    EXPECT_EQ(reply.part("parameter"), "stream");
    EXPECT_NE(reply.part("got").find(absl::StrCat("command ", failed, " failed: ")),
              std::string::npos)
        << reply.part("got");
    EXPECT_EQ(reply.last().failed_command(), 0u);
  }
  ExpectTold("synchronize { stream: 1 }", failed);
  EXPECT_THAT(session().Await(Fill(1)), IsOk());
  EXPECT_THAT(session().Do("synchronize { stream: 1 }"), IsOk());  // told once
}

TEST_F(SessionFailuresTest, NothingBehindAFailureRuns) {
  Fail(1);
  session().Do("create_event { event: 1 context: 1 }");
  const int64_t uploads = device().begun(Work::kUpload);
  for (const char* command :
       {"download { source { buffer: 1 row_bytes: 64 } stream: 1 }",
        "download { source { buffer: 1 row_bytes: 64 } stream: 1 detached: true }",
        "copy { source { buffer: 1 row_bytes: 64 } destination { buffer: 2 row_bytes: 64 } stream: "
        "1 }",
        "execute { stream: 1 call { op: 'Hardshrink' inputs { name: 'self' dtype: "
        "DATA_TYPE_FLOAT32 values { floats: 1 } } attributes { name: 'lambd' float_value: 0 } } "
        "}"}) {
    session().Refuse(command, kStreamFailed, "stream");
  }
  session().Refuse("upload { destination { buffer: 1 } stream: 1 }", kStreamFailed, "stream",
                   {std::string(64, 'u')});
  EXPECT_EQ(device().begun(Work::kUpload), uploads);
  session().Do("record_event { event: 1 stream: 1 }");  // what it marks has ended, badly
  session().Refuse("wait_event { event: 1 stream: 1 }", kStreamFailed, "stream");
  session().Do("wait_event { event: 1 stream: 2 }");
  session().Do("synchronize { event: 1 }");  // tells nothing, forgets nothing
  session().Refuse("synchronize { stream: 1 }", kBroken, "device");
}

TEST_F(SessionFailuresTest, AStreamThatGoesOn) {
  const uint64_t failed = Fail(2);
  EXPECT_THAT(session().Await(Fill(2)), IsOk());
  Fail(2);
  ExpectTold("synchronize { stream: 2 }", failed);  // the first
  EXPECT_THAT(session().Do("synchronize { stream: 2 }"), IsOk());
}

TEST_F(SessionFailuresTest, AnErrorInOneStreamLeavesTheOtherGoing) {
  Fail(1);
  device().Hold(Work::kFill);
  const uint64_t held = Fill(2);
  device().AwaitHeld(Work::kFill);
  session().Refuse("synchronize { stream: 1 }", kBroken, "device");
  device().Release(Work::kFill);
  EXPECT_THAT(session().Await(held), IsOk());
  EXPECT_THAT(session().Do("synchronize { stream: 2 }"), IsOk());
}

TEST_F(SessionFailuresTest, AContextTellsOfItsStreams) {
  const uint64_t second = Fail(2);
  const uint64_t first = Fail(1);
  EXPECT_NE(first, second);
  ExpectTold("synchronize { context: 1 }", first);  // of the stream that was made first
  EXPECT_THAT(session().Do("synchronize { context: 1 }"), IsOk());
  EXPECT_THAT(session().Await(Fill(1)), IsOk());
}

TEST_F(SessionFailuresTest, ARefusedCommandIsNoFailureOfItsStream) {
  session().Refuse("fill { destination { buffer: 1 row_bytes: 65 } pattern: 'x' stream: 1 }",
                   kInvalid, "destination");
  EXPECT_THAT(session().Await(Fill(1)), IsOk());
  EXPECT_THAT(session().Do("synchronize { stream: 1 }"), IsOk());
}

TEST_F(SessionFailuresTest, QuietFailuresAreTold) {
  device().FailNext(Work::kFill);
  const uint64_t failed = session().Send(
      "quiet: true fill { destination { buffer: 1 row_bytes: 8 } pattern: 'q' stream: 1 }");
  EXPECT_EQ(session().Await(failed).reason(), kBroken);
  const uint64_t quiet = session().Send("quiet: true synchronize { stream: 1 }");
  const Reply reply = session().Await(quiet);
  EXPECT_EQ(reply.reason(), kBroken);
  EXPECT_EQ(reply.last().failed_command(), failed);
}

TEST_F(SessionFailuresTest, TransfersThatBreak) {
  device().FailNext(Work::kDownload);
  session().Refuse("download { source { buffer: 2 row_bytes: 64 } stream: 2 }", kBroken, "device");
  device().FailNext(Work::kUpload);
  session().Refuse("upload { destination { buffer: 2 } stream: 2 }", kBroken, "device",
                   {std::string(64, 'u')});
  device().FailNext(Work::kCopy);
  session().Refuse(
      "copy { source { buffer: 1 row_bytes: 64 } destination { buffer: 2 row_bytes: 64 } stream: 2 "
      "}",
      kBroken, "device");
  session().Refuse("synchronize { stream: 2 }", kBroken, "device");
}

// Its turn was over when it failed: it is nobody's failure but its own.
TEST_F(SessionFailuresTest, ADetachedDownloadThatBreaks) {
  device().FailNext(Work::kDownload);
  session().Refuse("download { source { buffer: 1 row_bytes: 64 } stream: 1 detached: true }",
                   kBroken, "device");
  EXPECT_THAT(session().Await(Fill(1)), IsOk());
}

}  // namespace
}  // namespace opserve::testing
