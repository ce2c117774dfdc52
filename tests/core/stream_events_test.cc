// What orders streams: events, recorded and waited for, without sleeps.
#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "tests/core/stream_fixture.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

using ::testing::ElementsAre;

class StreamEventsTest : public StreamTest {};

TEST_F(StreamEventsTest, AnEventOrdersTwoStreams) {
  const auto first = MakeStream();
  const auto second = MakeStream();
  Signal go;
  Event event;
  first->Enqueue(Await(go));
  first->Enqueue(Note(1, "first"));
  first->Record(event);
  ASSERT_THAT(second->WaitFor(event), IsOk());
  Signal passed;
  second->Enqueue({.id = 3,
                   .run =
                       [&passed] {
                         passed.Notify();
                         return absl::OkStatus();
                       },
                   .done = {}});
  second->Enqueue(Note(2, "second"));
  EXPECT_FALSE(*event.Query());
  EXPECT_FALSE(passed.WaitFor(std::chrono::milliseconds(200)));
  EXPECT_FALSE(second->IsIdle());
  go.Notify();
  EXPECT_THAT(Synchronize(*second).status, IsOk());
  EXPECT_TRUE(*event.Query());
  EXPECT_THAT(log_.lines(), ElementsAre("first", "first ok", "second", "second ok"));
}

TEST_F(StreamEventsTest, WaitingTakesNoWorker) {
  // More streams wait than there are workers, for one that still gets its turn.
  const auto first = MakeStream();
  Event event;
  Signal go;
  first->Enqueue(Await(go));
  first->Record(event);
  std::vector<std::shared_ptr<Stream>> waiting;
  for (int i = 0; i < 20; ++i) {
    waiting.push_back(MakeStream());
    ASSERT_THAT(waiting.back()->WaitFor(event), IsOk());
  }
  const auto other = MakeStream();
  EXPECT_THAT(Synchronize(*other).status, IsOk());
  go.Notify();
  for (const auto& stream : waiting) EXPECT_THAT(Synchronize(*stream).status, IsOk());
}

TEST_F(StreamEventsTest, WhatWaitsGoesByTheLatestRecordingOfItsTime) {
  const auto first = MakeStream();
  const auto second = MakeStream();
  Signal never_before_the_end;
  Event event;
  first->Record(event);
  ASSERT_THAT(second->WaitFor(event), IsOk());
  first->Enqueue(Await(never_before_the_end));
  first->Record(event);
  EXPECT_THAT(Synchronize(*second).status, IsOk());
  EXPECT_FALSE(*event.Query());
  never_before_the_end.Notify();
  Synchronize(*first);
  EXPECT_TRUE(*event.Query());
}

TEST_F(StreamEventsTest, AnEventThatWasNeverRecordedIsAnError) {
  const auto stream = MakeStream();
  Event never;
  Event event;
  ExpectInvalid(stream->WaitFor(never), "event");
  ExpectInvalid(never.Query().status(), "event");
  ExpectInvalid(ElapsedTime(never, event).status(), "event");
}

TEST_F(StreamEventsTest, ElapsedTimeIsBetweenThePoints) {
  const auto stream = MakeStream();
  Event start;
  Event end;
  stream->Record(start);
  stream->Enqueue({.id = 1,
                   .run =
                       [this] {
                         clock_.Advance(absl::Milliseconds(7));
                         return absl::OkStatus();
                       },
                   .done = {}});
  stream->Record(end);
  Synchronize(*stream);
  EXPECT_EQ(*ElapsedTime(start, end), absl::Milliseconds(7));
  EXPECT_EQ(*ElapsedTime(end, start), -absl::Milliseconds(7));
}

}  // namespace
}  // namespace opserve::testing
