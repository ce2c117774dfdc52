// Streams beside each other, events that order them, and what destroying does to what waits.
#include <gtest/gtest.h>

#include "tests/server/session/session_fixture.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

class SessionStreamsTest : public SessionFixture {
 protected:
  void SetUp() override {
    MakeStreams();
    session().Do("create_event { event: 1 context: 1 }");
    session().Do("create_event { event: 2 context: 1 }");
    MakeBuffer(1, std::string(64, '-'));
    MakeBuffer(2, std::string(64, '-'));
  }

  // A fill of buffer 1 that has begun and does not end until the device lets it go.
  uint64_t HeldFill(int stream) {
    device().Hold(Work::kFill);
    const uint64_t id = Fill(stream, 'h');
    device().AwaitHeld(Work::kFill);
    return id;
  }
  uint64_t Fill(int stream, char with) {
    return session().Send(absl::StrCat("fill { destination { buffer: 1 row_bytes: 64 } pattern: '",
                                       std::string(1, with), "' stream: ", stream, " }"));
  }
  bool Answered(uint64_t id) {
    session().TakeAnswers();
    return session().answers().contains(id);
  }
};

TEST_F(SessionStreamsTest, TwoStreamsOverlap) {
  const uint64_t held = HeldFill(1);
  session().Do("upload { destination { buffer: 2 } stream: 2 }", {std::string(64, 'u')});
  const Reply reply =
      session().Do("download { source { buffer: 2 row_bytes: 64 } stream: 2 }");  // while 1 runs
  EXPECT_EQ(reply.bytes(), std::string(64, 'u'));
  EXPECT_FALSE(Answered(held));
  device().Release(Work::kFill);
  EXPECT_THAT(session().Await(held), IsOk());
}

TEST_F(SessionStreamsTest, StreamsAndWhatWaitsOnThemAreCounted) {
  EXPECT_EQ(session().open_streams().on(0), 2);
  EXPECT_EQ(session().commands_in_flight(), 0);
  const uint64_t held = HeldFill(1);
  const uint64_t behind = Fill(1, 'b');
  EXPECT_EQ(session().commands_in_flight(), 2);
  device().Release(Work::kFill);
  EXPECT_THAT(session().Await(held), IsOk());
  EXPECT_THAT(session().Await(behind), IsOk());
  EXPECT_EQ(session().commands_in_flight(), 0);
  session().Refuse("create_stream { stream: 2 context: 1 }", kInUse, "stream");
  EXPECT_EQ(session().open_streams().on(0), 2);
  session().Do("destroy_stream { stream: 2 }");
  EXPECT_EQ(session().open_streams().on(0), 1);
  session().Do("destroy_context { context: 1 }");
  EXPECT_EQ(session().open_streams().on(0), 0) << "with their context";
}

TEST_F(SessionStreamsTest, StreamsOfASessionThatIsCutAreClosed) {
  HeldFill(1);
  Fill(1, 'b');
  session().Cut();
  EXPECT_EQ(session().open_streams().on(0), 0);
  device().Release(Work::kFill);
  session().ExpectNothingLeft();
  EXPECT_EQ(session().commands_in_flight(), 0);
}

TEST_F(SessionStreamsTest, BothStreamsRunAtOneTime) {
  device().Hold(Work::kFill);
  const uint64_t one = Fill(1, 'a');
  const uint64_t two =
      session().Send("fill { destination { buffer: 2 row_bytes: 8 } pattern: 'b' stream: 2 }");
  device().AwaitHeld(Work::kFill, 2);
  device().Release(Work::kFill);
  EXPECT_THAT(session().Await(one), IsOk());
  EXPECT_THAT(session().Await(two), IsOk());
}

TEST_F(SessionStreamsTest, OneStreamIsInOrder) {
  const uint64_t held = HeldFill(1);
  const uint64_t behind =
      session().Send("upload { destination { buffer: 1 } stream: 1 }", {std::string(64, 'u')});
  EXPECT_FALSE(session().Do("query_stream { stream: 1 }").last().stream().idle());
  EXPECT_TRUE(session().Do("query_stream { stream: 2 }").last().stream().idle());
  EXPECT_FALSE(Answered(behind));
  device().Release(Work::kFill);
  EXPECT_THAT(session().Await(held), IsOk());
  EXPECT_EQ(Contents(1, 64), std::string(64, 'u'));
}

TEST_F(SessionStreamsTest, AnEventOrdersThem) {
  HeldFill(1);
  const uint64_t record = session().Send("record_event { event: 1 stream: 1 }");
  const uint64_t wait = session().Send("wait_event { event: 1 stream: 2 }");
  const uint64_t read = session().Send("download { source { buffer: 1 row_bytes: 64 } stream: 2 }");
  EXPECT_FALSE(session().Do("query_event { event: 1 }").last().event().reached());
  const uint64_t synchronize = session().Send("synchronize { event: 1 }");
  for (const uint64_t id : {record, wait, read, synchronize}) EXPECT_FALSE(Answered(id));
  device().Release(Work::kFill);
  for (const uint64_t id : {record, wait, synchronize}) EXPECT_THAT(session().Await(id), IsOk());
  EXPECT_EQ(session().Await(read).bytes(), std::string(64, 'h'));
  EXPECT_TRUE(session().Do("query_event { event: 1 }").last().event().reached());
}

TEST_F(SessionStreamsTest, WhatWaitsGoesByTheRecordingOfThen) {
  session().Do("record_event { event: 1 stream: 2 }");
  HeldFill(1);
  const uint64_t again = session().Send("record_event { event: 1 stream: 1 }");
  const uint64_t wait = session().Send("wait_event { event: 1 stream: 2 }");
  session().Do("destroy_event { event: 1 }");  // what waits goes on waiting
  session().Refuse("query_event { event: 1 }", kInvalid, "event");
  EXPECT_FALSE(Answered(wait));
  device().Release(Work::kFill);
  EXPECT_THAT(session().Await(wait), IsOk());
  EXPECT_THAT(session().Await(again), IsOk());
}

TEST_F(SessionStreamsTest, EventsThatWereNeverRecorded) {
  for (const char* command :
       {"wait_event { event: 1 stream: 1 }", "query_event { event: 1 }", "synchronize { event: 1 }",
        "query_elapsed_time { start: 1 end: 2 }"}) {
    session().Refuse(command, kInvalid,
                     std::string_view(command).starts_with("query_elapsed") ? "start" : "event");
  }
}

TEST_F(SessionStreamsTest, ElapsedTime) {
  session().Do("record_event { event: 1 stream: 1 }");
  session().Refuse("query_elapsed_time { start: 1 end: 2 }", kInvalid, "end");
  HeldFill(1);
  const uint64_t record = session().Send("record_event { event: 2 stream: 1 }");
  session().Refuse("query_elapsed_time { start: 1 end: 2 }", kInvalid, "end");
  session().Refuse("query_elapsed_time { start: 2 end: 1 }", kInvalid, "start");
  device().Release(Work::kFill);
  session().Await(record);
  const Reply forth = session().Do("query_elapsed_time { start: 1 end: 2 }");
  const Reply back = session().Do("query_elapsed_time { start: 2 end: 1 }");
  EXPECT_GT(forth.last().elapsed_time().elapsed_ns(), 0);
  EXPECT_EQ(back.last().elapsed_time().elapsed_ns(), -forth.last().elapsed_time().elapsed_ns());
}

TEST_F(SessionStreamsTest, DestroyingAStreamDropsWhatWaits) {
  const uint64_t held = HeldFill(1);
  const uint64_t waiting =
      session().Send("upload { destination { buffer: 1 } stream: 1 }", {std::string(64, 'u')});
  const uint64_t record = session().Send("record_event { event: 1 stream: 1 }");
  const uint64_t parked = session().Send("wait_event { event: 1 stream: 2 }");
  const uint64_t synchronize = session().Send("synchronize { stream: 1 }");
  session().Do("destroy_stream { stream: 1 }");
  EXPECT_EQ(session().Await(waiting).reason(), kCancelled);
  EXPECT_EQ(session().Await(synchronize).reason(), kCancelled);
  EXPECT_THAT(session().Await(record), IsOk());
  EXPECT_THAT(session().Await(parked), IsOk());
  EXPECT_FALSE(Answered(held));  // runs to its end
  device().Release(Work::kFill);
  EXPECT_THAT(session().Await(held), IsOk());
  session().Refuse("query_stream { stream: 1 }", kInvalid, "stream");
}

TEST_F(SessionStreamsTest, DestroyingAParkedStream) {
  HeldFill(1);
  session().Send("record_event { event: 1 stream: 1 }");
  const uint64_t parked = session().Send("wait_event { event: 1 stream: 2 }");
  session().Do("destroy_stream { stream: 2 }");
  EXPECT_EQ(session().Await(parked).reason(), kCancelled);
  device().Release(Work::kFill);
  session().AwaitIdle();
}

TEST_F(SessionStreamsTest, DestroyingAContextTakesAllThatItOwns) {
  const uint64_t held = HeldFill(1);
  const uint64_t waiting = Fill(1, 'w');
  const uint64_t synchronize = session().Send("synchronize { context: 1 }");
  session().Do("destroy_context { context: 1 }");
  EXPECT_EQ(session().Await(waiting).reason(), kCancelled);
  EXPECT_EQ(session().Await(synchronize).reason(), kCancelled);
  device().Release(Work::kFill);
  EXPECT_THAT(session().Await(held), IsOk());
  session().Refuse("query_stream { stream: 2 }", kInvalid, "stream");
  session().Refuse("query_event { event: 1 }", kInvalid, "event");
  session().Refuse("free { buffer: 1 }", kInvalid, "buffer");
  session().Refuse("query_memory { context: 1 }", kInvalid, "context");
  MakeStreams();  // all ids are free again
}

TEST_F(SessionStreamsTest, ContextsAreApart) {
  session().Do("create_context { context: 2 device: 'manual:0' }");
  session().Do("create_stream { stream: 3 context: 2 }");
  session().Do("create_event { event: 3 context: 2 }");
  session().Do("record_event { event: 1 stream: 1 }");
  session().Refuse("record_event { event: 1 stream: 3 }", kInvalid, "event");
  session().Refuse("wait_event { event: 1 stream: 3 }", kInvalid, "event");
  session().Refuse("fill { destination { buffer: 1 row_bytes: 8 } pattern: 'x' stream: 3 }",
                   kInvalid, "buffer");
  HeldFill(1);
  session().Do("synchronize { context: 2 }");  // does not wait for context 1
  session().Do("destroy_context { context: 2 }");
  session().Refuse("query_event { event: 3 }", kInvalid, "event");
}

TEST_F(SessionStreamsTest, SynchronizeNeedsATarget) {
  session().Refuse("synchronize {}", kNull, "target");
  session().Do("synchronize { stream: 1 }");
  session().Do("synchronize { context: 1 }");
}

}  // namespace
}  // namespace opserve::testing
