// Commands that are cancelled, and commands that are late.
#include <gtest/gtest.h>

#include <limits>

#include "tests/server/session/session_fixture.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

constexpr absl::Duration kTimeLimit = absl::Seconds(1);

// What ends a command early.
enum class Way : uint8_t { kCancel, kTimeout };

// Before the fixture, which keeps it.
struct WithFakeClock {
  FakeClock fake_clock;
};

// Stream 1 goes on behind failures, stream 2 stops. Buffers 1 and 2 have 64 bytes.
class SessionCancelTest : protected WithFakeClock, public SessionFixture {
 protected:
  SessionCancelTest() : SessionFixture(fake_clock) {}

  void SetUp() override {
    session().Do("create_context { context: 1 }");
    session().Do("create_stream { stream: 1 context: 1 on_failure: ON_FAILURE_CONTINUE }");
    session().Do("create_stream { stream: 2 context: 1 }");
    session().Do("create_event { event: 1 context: 1 }");
    MakeBuffer(1, std::string(64, '-'));
    MakeBuffer(2, std::string(64, '-'));
  }

  uint64_t Fill(int stream, std::string_view more = "") {
    return session().Send(absl::StrCat(std::string(more),
                                       " fill { destination { buffer: 1 row_bytes: 64 } ",
                                       "pattern: 'f' stream: ", stream, " }"));
  }
  // One that has begun and does not end until the device lets it go.
  uint64_t HeldFill(int stream, std::string_view more = "") {
    device().Hold(Work::kFill);
    const uint64_t id = Fill(stream, more);
    device().AwaitHeld(Work::kFill);
    return id;
  }
  void Cancel(uint64_t id) { session().Do(absl::StrCat("cancel { command: ", id, " }")); }
  void ExpectUnanswered(uint64_t id) {
    session().TakeAnswers();
    EXPECT_FALSE(session().answers().contains(id)) << id;
  }
  // Executor 1, into buffer 2.
  void MakeExecutor() {
    session().Do(
        "create_executor { executor: 1 context: 1 repeatable: true call { op: 'Hardshrink' "
        "attributes { name: 'lambd' float_value: 0.5 } inputs { name: 'self' dtype: "
        "DATA_TYPE_FLOAT32 shape: 16 buffer { buffer: 1 } } outputs { name: 'out' dtype: "
        "DATA_TYPE_FLOAT32 shape: 16 buffer { buffer: 2 } } } }");
  }
  // A call of two floats.
  static std::string Execute(std::string_view more) {
    return absl::StrCat(
        "execute { ", std::string(more),
        " call { op: 'Hardshrink' attributes { name: 'lambd' float_value: 0.5 } ",
        "inputs { name: 'self' dtype: DATA_TYPE_FLOAT32 shape: 2 raw_index: 0 } } }");
  }
};

class SessionEarlyEndTest : public SessionCancelTest, public ::testing::WithParamInterface<Way> {
 protected:
  // With the time-out, where that is the way.
  uint64_t Send(std::string_view command, const std::vector<std::string>& raw = {}) {
    const std::string timeout =
        GetParam() == Way::kTimeout
            ? absl::StrCat("timeout_ns: ", absl::ToInt64Nanoseconds(kTimeLimit), " ")
            : "";
    return session().Send(absl::StrCat(timeout, std::string(command)), raw);
  }
  void End(const std::vector<uint64_t>& ids) {
    if (GetParam() == Way::kTimeout) return fake_clock.Advance(kTimeLimit + absl::Nanoseconds(1));
    for (const uint64_t id : ids) Cancel(id);
  }
  std::string_view reason() const { return GetParam() == Way::kTimeout ? kLate : kCancelled; }
};

INSTANTIATE_TEST_SUITE_P(Ways, SessionEarlyEndTest, ::testing::Values(Way::kCancel, Way::kTimeout));

TEST_P(SessionEarlyEndTest, WhatWaitsOnAStreamIsNotRun) {
  MakeExecutor();
  HeldFill(1);
  std::vector<uint64_t> ids;
  for (const char* command :
       {"copy { source { buffer: 1 row_bytes: 8 } destination { buffer: 2 row_bytes: 8 } stream: 1 "
        "}",
        "fill { destination { buffer: 2 row_bytes: 8 } pattern: 'n' stream: 1 }",
        "download { source { buffer: 1 row_bytes: 64 } stream: 1 }",
        "download { source { buffer: 1 row_bytes: 64 } stream: 1 detached: true }",
        "run_executor { executor: 1 stream: 1 }",
        "run_executor { executor: 1 stream: 1 send_outputs: true }"})
    ids.push_back(Send(command));
  ids.push_back(Send("upload { destination { buffer: 2 } stream: 1 }", {std::string(64, 'n')}));
  ids.push_back(Send(Execute("stream: 1"), {"12345678"}));
  const uint64_t behind =
      session().Send("download { source { buffer: 2 row_bytes: 64 } stream: 1 }");
  End(ids);
  for (const uint64_t id : ids) ExpectUnanswered(id);
  device().Release(Work::kFill);
  for (const uint64_t id : ids) {
    const Reply reply = session().Await(id);
    EXPECT_EQ(reply.reason(), reason()) << id;
    EXPECT_EQ(reply.answers.size(), 1u) << id;
  }
  EXPECT_EQ(session().Await(behind).bytes(), std::string(64, '-'));
  EXPECT_EQ(device().begun(Work::kKernel), 0);
  const Reply told = session().Await(session().Send("synchronize { stream: 1 }"));
  EXPECT_EQ(told.reason(), reason());
  EXPECT_EQ(told.last().failed_command(), ids[0]);
}

TEST_P(SessionEarlyEndTest, AStreamThatStops) {
  HeldFill(2);
  const uint64_t ended = Send("download { source { buffer: 1 row_bytes: 8 } stream: 2 }");
  const uint64_t behind = Fill(2);
  const uint64_t synchronize = session().Send("synchronize { stream: 2 }");
  End({ended});
  device().Release(Work::kFill);
  EXPECT_EQ(session().Await(ended).reason(), reason());
  EXPECT_EQ(session().Await(behind).reason(), kStreamFailed);
  EXPECT_EQ(session().Await(synchronize).last().failed_command(), ended);
  EXPECT_THAT(session().Await(Fill(2)), IsOk());
}

TEST_P(SessionEarlyEndTest, AKernelStopsAtItsNextChunk) {
  MakeExecutor();
  device().Hold(Work::kKernel);
  const uint64_t plain = Send("run_executor { executor: 1 stream: 1 }");
  const uint64_t on_stream = Send(Execute("stream: 2"), {"12345678"});
  device().AwaitHeld(Work::kKernel, 2);
  End({plain, on_stream});
  device().Release(Work::kKernel);
  for (const uint64_t id : {plain, on_stream}) {
    const Reply reply = session().Await(id);
    EXPECT_EQ(reply.reason(), reason());
    EXPECT_EQ(reply.part("operator"), "Hardshrink");
  }
  const Reply told = session().Await(session().Send("synchronize { stream: 1 }"));
  EXPECT_EQ(told.last().failed_command(), plain);
}

TEST_P(SessionEarlyEndTest, NoFurtherChunkIsSent) {
  device().Hold(Work::kDownload);
  const uint64_t whole =
      Send("download { source { buffer: 1 row_bytes: 64 } stream: 1 chunk_bytes: 8 }");
  const uint64_t detached = Send(
      "download { source { buffer: 1 row_bytes: 64 } stream: 2 chunk_bytes: 8 detached: true }");
  device().AwaitHeld(Work::kDownload, 2);
  End({whole, detached});
  device().Release(Work::kDownload);
  for (const uint64_t id : {whole, detached}) {
    const Reply reply = session().Await(id);
    EXPECT_EQ(reply.answers.size(), 2u);
    EXPECT_EQ(reply.reason(), reason());
  }
  EXPECT_EQ(device().begun(Work::kDownload), 2);
  EXPECT_THAT(session().Do("synchronize { stream: 2 }"), IsOk());  // it had left the stream
}

TEST_P(SessionEarlyEndTest, OnNoStream) {
  device().Hold(Work::kKernel);
  std::vector<uint64_t> running;
  for (int i = 0; i < 2; ++i) running.push_back(session().Send(Execute(""), {"12345678"}));
  device().AwaitHeld(Work::kKernel, 2);  // its two workers
  const uint64_t waiting = Send(Execute(""), {"12345678"});
  End({waiting});
  device().Release(Work::kKernel);
  for (const uint64_t id : running) EXPECT_THAT(session().Await(id), IsOk());
  EXPECT_EQ(session().Await(waiting).reason(), reason());
  EXPECT_EQ(device().begun(Work::kKernel), 2);
}

TEST_P(SessionEarlyEndTest, WhatWaitsForOthers) {
  HeldFill(1);
  session().Send("quiet: true record_event { event: 1 stream: 1 }");
  const uint64_t wait = Send("wait_event { event: 1 stream: 2 }");
  const uint64_t behind = session().Send(
      "copy { source { buffer: 1 row_bytes: 8 } destination { "
      "buffer: 2 row_bytes: 8 } stream: 2 }");
  std::vector<uint64_t> ids = {wait};
  for (const char* target : {"stream: 1", "event: 1"})
    ids.push_back(Send(absl::StrCat("synchronize { ", target, " }")));
  const uint64_t record = Send("record_event { event: 1 stream: 1 }");
  End({ids[0], ids[1], ids[2], record});
  for (const uint64_t id : ids) ExpectUnanswered(id);
  device().Release(Work::kFill);
  for (const uint64_t id : ids) EXPECT_EQ(session().Await(id).reason(), reason());
  EXPECT_THAT(session().Await(record), IsOk());
  EXPECT_EQ(session().Await(behind).reason(), kStreamFailed);
  EXPECT_THAT(session().Do("synchronize { stream: 1 }"), IsOk());
}

TEST_P(SessionEarlyEndTest, SynchronizeTellsAFailureNonetheless) {
  device().FailNext(Work::kFill);
  const uint64_t failed = HeldFill(1);
  const uint64_t stream = Send("synchronize { stream: 1 }");
  End({stream});
  device().Release(Work::kFill);
  const Reply told = session().Await(stream);
  EXPECT_EQ(told.reason(), kBroken);
  EXPECT_EQ(told.last().failed_command(), failed);
}

TEST_P(SessionEarlyEndTest, AQuietCommandSaysSo) {
  HeldFill(1);
  const uint64_t quiet =
      Send("quiet: true fill { destination { buffer: 2 row_bytes: 8 } pattern: 'n' stream: 1 }");
  End({quiet});
  device().Release(Work::kFill);
  EXPECT_EQ(session().Await(quiet).reason(), reason());
}

TEST_P(SessionEarlyEndTest, ACallInChunks) {
  const uint64_t call = Send(
      "execute_chunked { call { op: 'Hardshrink' attributes { name: 'lambd' float_value: 0 } "
      "inputs { name: 'self' dtype: DATA_TYPE_FLOAT32 shape: 100 chunked {} } } }");
  const auto chunk = [&] {
    session().Send(absl::StrCat("input_chunk { command: ", call, " input: 'self' }"), {"1234"});
  };
  chunk();
  session().AwaitThat([&] {
    session().TakeAnswers();
    return session().answers().contains(call) && session().answers().at(call).answers.size() == 2;
  });
  End({call});
  if (GetParam() == Way::kTimeout) chunk();
  const Reply reply = session().Await(call);
  EXPECT_EQ(reply.reason(), reason());
  EXPECT_EQ(reply.part("operator"), "Hardshrink");
  for (int i = 0; i < 3; ++i) chunk();
  session().AwaitIdle();
  EXPECT_TRUE(session().answers().empty());
}

TEST_P(SessionEarlyEndTest, ACallWithAllItsChunks) {
  device().Hold(Work::kKernel);
  const uint64_t call = Send(
      "execute_chunked { call { op: 'Hardshrink' attributes { name: 'lambd' float_value: 0 } "
      "inputs { name: 'self' dtype: DATA_TYPE_FLOAT32 shape: 2 chunked {} } } }");
  for (int i = 0; i < 2; ++i)
    session().Send(absl::StrCat("input_chunk { command: ", call, " input: 'self' }"), {"1234"});
  device().AwaitHeld(Work::kKernel);
  End({call});
  device().Release(Work::kKernel);
  EXPECT_EQ(session().Await(call).reason(), reason());
  EXPECT_EQ(device().begun(Work::kKernel), 1);
}

TEST_F(SessionCancelTest, IdsThatWereNeverSent) {
  const uint64_t next = session().Send("query_memory { context: 1 }") + 1;
  for (const uint64_t id : {uint64_t{0}, next + 1, next + 7, std::numeric_limits<uint64_t>::max()})
    session().Refuse(absl::StrCat("cancel { command: ", id, " }"), kInvalid, "command");
  v1::Command itself;
  itself.set_id(next + 100);
  itself.mutable_cancel()->set_command(next + 100);
  session().Refuse(itself, kInvalid, "command");
  Cancel(next + 50);  // a gap
}

TEST_F(SessionCancelTest, WhatIsOverStaysSo) {
  const uint64_t filled = Fill(1);
  EXPECT_THAT(session().Await(filled), IsOk());
  Cancel(filled);
  Cancel(1);
  EXPECT_THAT(session().Do("synchronize { stream: 1 }"), IsOk());
  const uint64_t quiet = session().Send("quiet: true cancel { command: 1 }");
  Cancel(quiet);
  EXPECT_FALSE(session().answers().contains(quiet));
}

TEST_F(SessionCancelTest, TimeoutsThatAreNone) {
  const std::string timeout = absl::StrCat("timeout_ns: ", std::numeric_limits<int64_t>::min());
  for (const char* command : {"query_memory { context: 1 }", "cancel { command: 1 }",
                              "fill { destination { buffer: 1 row_bytes: 8 } stream: 1 }"}) {
    session().Refuse(absl::StrCat(timeout, " ", command), kInvalid, "timeout_ns");
    EXPECT_EQ(session()
                  .Refuse(absl::StrCat("timeout_ns: -1 ", command), kInvalid, "timeout_ns")
                  .part("got"),
              "-1");
  }
}

TEST_F(SessionCancelTest, TimeForAll) {
  const uint64_t held =
      HeldFill(1, absl::StrCat("timeout_ns: ", std::numeric_limits<int64_t>::max()));
  const uint64_t just = Fill(1, "timeout_ns: 1000000000");
  fake_clock.Advance(kTimeLimit);
  device().Release(Work::kFill);
  EXPECT_THAT(session().Await(held), IsOk());
  EXPECT_THAT(session().Await(just), IsOk());
}

TEST_F(SessionCancelTest, IsTakenWhenNothingElseIs) {
  EndSession();
  limits_.max_queued_commands = 3;
  SetUp();
  HeldFill(1);
  const uint64_t first = Fill(1);
  const uint64_t second = Fill(1);
  session().Refuse("query_memory { context: 1 }", kLimit, "command");
  Cancel(first);
  Cancel(second);
  device().Release(Work::kFill);
  EXPECT_EQ(session().Await(first).reason(), kCancelled);
  EXPECT_EQ(session().Await(second).reason(), kCancelled);
}

TEST_F(SessionCancelTest, ThousandsOfCancellations) {
  HeldFill(1);
  std::vector<uint64_t> ids;
  for (int i = 0; i < 5000; ++i) ids.push_back(Fill(1));
  for (int i = 0; i < 3; ++i) {
    for (const uint64_t id : ids)
      session().Send(absl::StrCat("quiet: true cancel { command: ", id, " }"));
  }
  const int64_t fills = device().begun(Work::kFill);
  device().Release(Work::kFill);
  for (const uint64_t id : ids) ASSERT_EQ(session().Await(id).reason(), kCancelled);
  EXPECT_EQ(device().begun(Work::kFill), fills + 1);
}

// Each gives the room that it waited for to the next, without going deeper for it.
TEST_F(SessionCancelTest, ThousandsOfDownloadsThatWaitForRoom) {
  EndSession();
  limits_.window_bytes = 1000;
  SetUp();
  std::vector<uint64_t> ids;
  for (int i = 0; i < 5000; ++i) {
    ids.push_back(
        session().Send("download { source { buffer: 1 row_bytes: 64 } stream: 1 chunk_bytes: 32 "
                       "detached: true }"));
  }
  for (const uint64_t id : ids)
    session().Send(absl::StrCat("quiet: true cancel { command: ", id, " }"));
  for (const uint64_t id : ids) EXPECT_FALSE(session().Await(id).last().more());
}

TEST_F(SessionCancelTest, ACutOfASessionWithCancelledCommands) {
  HeldFill(1);
  for (int i = 0; i < 100; ++i) {
    const uint64_t id = Fill(1, "timeout_ns: 5");
    if (i % 2 == 0) Cancel(id);
  }
  session().Cut();
  device().Release(Work::kFill);
  session().ExpectNothingLeft();
}

}  // namespace
}  // namespace opserve::testing
