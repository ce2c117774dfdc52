// Streams on real workers, without sleeps: what must happen first is waited for.
#include "core/device/stream.h"

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "tests/core/stream_fixture.h"
#include "tests/support/seed.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

using ::testing::ElementsAre;

TEST_F(StreamTest, WhatIsQuickRunsOnTheThreadThatBringsItWhenNothingIsBefore) {
  const auto stream = MakeStream();
  const auto here = std::this_thread::get_id();
  std::vector<bool> ran_here;
  const auto quick = [&] {
    return Stream::Command{.id = 1,
                           .run =
                               [&] {
                                 ran_here.push_back(std::this_thread::get_id() == here);
                                 return absl::OkStatus();
                               },
                           .done = nullptr,
                           .is_quick = true};
  };
  stream->Enqueue(quick());
  EXPECT_THAT(ran_here, ElementsAre(true));
  EXPECT_TRUE(stream->IsIdle());
  Signal go_on;
  Signal ended;
  stream->Enqueue(Await(go_on));
  stream->Enqueue(quick());
  stream->Synchronize([&](const Stream::Failure&) { ended.Notify(); });
  go_on.Notify();
  ended.Wait();
  EXPECT_THAT(ran_here, ElementsAre(true, false));
}

TEST_F(StreamTest, RunsInOrder) {
  const auto stream = MakeStream();
  std::vector<std::string> want;
  for (uint64_t id = 0; id < 50; ++id) {
    const std::string name = std::to_string(id);
    stream->Enqueue(Note(id, name));
    want.push_back(name);
    want.push_back(name + " ok");
  }
  EXPECT_THAT(Synchronize(*stream).status, IsOk());
  EXPECT_EQ(log_.lines(), want);
}

TEST_F(StreamTest, StreamsOverlap) {
  const auto first = MakeStream();
  const auto second = MakeStream();
  Signal both_run;
  // The first cannot end before the second ran.
  first->Enqueue(Await(both_run));
  second->Enqueue({.id = 1,
                   .run =
                       [&] {
                         both_run.Notify();
                         return absl::OkStatus();
                       },
                   .done = {}});
  EXPECT_THAT(Synchronize(*first).status, IsOk());
  EXPECT_THAT(Synchronize(*second).status, IsOk());
}

TEST_F(StreamTest, AFailureStopsTheStreamUntilItWasTold) {
  const auto stream = MakeStream();
  stream->Enqueue(Note(41, "bad", InvalidParameter("targets", "labels below 3", "7")));
  stream->Enqueue(Note(42, "next"));
  const Stream::Failure failure = Synchronize(*stream);
  EXPECT_EQ(failure.command, 41u);
  ExpectInvalid(failure.status, "targets");
  EXPECT_THAT(log_.lines(), ElementsAre("bad", "bad failed", "next failed"));
  stream->Enqueue(Note(43, "again"));
  EXPECT_THAT(Synchronize(*stream).status, IsOk());
  EXPECT_EQ(log_.lines().back(), "again ok");
}

TEST_F(StreamTest, WhatWasNotRunNamesTheCommandAtFault) {
  const auto stream = MakeStream();
  stream->Enqueue(Note(41, "bad", absl::InternalError("boom")));
  absl::Status not_run;
  stream->Enqueue({.id = 42,
                   .run = [] { return absl::OkStatus(); },
                   .done = [&](absl::Status status) { not_run = std::move(status); }});
  Synchronize(*stream);
  EXPECT_EQ(not_run.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(not_run.message()), ::testing::HasSubstr("command 41 failed: boom"));
}

TEST_F(StreamTest, AStreamMayContinueAfterAFailure) {
  const auto stream = MakeStream(OnFailure::kContinue);
  stream->Enqueue(Note(1, "bad", absl::InternalError("boom")));
  stream->Enqueue(Note(2, "worse", absl::InternalError("bang")));
  stream->Enqueue(Note(3, "good"));
  EXPECT_EQ(Synchronize(*stream).command, 1u);
  EXPECT_THAT(log_.lines(),
              ElementsAre("bad", "bad failed", "worse", "worse failed", "good", "good ok"));
}

TEST_F(StreamTest, AFailureLeavesOtherStreamsGoing) {
  const auto bad = MakeStream();
  const auto good = MakeStream();
  Event event;
  bad->Enqueue(Note(1, "bad", absl::InternalError("boom")));
  bad->Record(event);
  ASSERT_THAT(good->WaitFor(event), IsOk());
  good->Enqueue(Note(2, "good"));
  EXPECT_THAT(Synchronize(*good).status, IsOk());
  EXPECT_EQ(log_.lines().back(), "good ok");
}

TEST_F(StreamTest, AbandonDropsWhatWaitsAndReachesItsMarkers) {
  const auto stream = MakeStream();
  const auto other = MakeStream();
  Signal started;
  const auto go = std::make_shared<Signal>();  // the command may outlive the test's frame
  Event event;
  stream->Enqueue(
      {.id = 1,
       .run =
           [&started, go] {
             started.Notify();
             go->Wait();
             return absl::OkStatus();
           },
       .done =
           [this](const absl::Status& status) { log_.Add(status.ok() ? "ran" : "did not run"); }});
  started.Wait();
  stream->Enqueue(Note(2, "dropped"));
  stream->Record(event);
  ASSERT_THAT(other->WaitFor(event), IsOk());
  stream->Abandon();
  EXPECT_THAT(Synchronize(*other).status, IsOk());
  EXPECT_EQ(Synchronize(*stream).status.code(), absl::StatusCode::kCancelled);
  stream->Enqueue(Note(3, "late"));
  EXPECT_THAT(log_.lines(), ElementsAre("dropped failed", "late failed"));
  EXPECT_FALSE(stream->IsIdle());
  go->Notify();
}

TEST_F(StreamTest, WhoIsToldOfTheLastEndFindsItIdle) {
  const auto stream = MakeStream();
  bool after_command = false;
  bool after_barrier = false;
  bool inside = true;
  Signal told;
  stream->Enqueue({.id = 1,
                   .run =
                       [&] {
                         inside = stream->IsIdle();
                         return absl::OkStatus();
                       },
                   .done =
                       [&](const absl::Status&) {
                         after_command = stream->IsIdle();
                         told.Notify();
                       }});
  told.Wait();
  Signal synchronized;
  stream->Synchronize([&](const Stream::Failure&) {
    after_barrier = stream->IsIdle();
    synchronized.Notify();
  });
  synchronized.Wait();
  EXPECT_FALSE(inside);
  EXPECT_TRUE(after_command);
  EXPECT_TRUE(after_barrier);
}

TEST_F(StreamTest, WhatACommandHeldIsFreeWhenItsEndIsTold) {
  const auto stream = MakeStream();
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = held;
  bool free = false;
  stream->Enqueue({.id = 1,
                   .run = [held = std::move(held)] { return absl::OkStatus(); },
                   .done = [&](const absl::Status&) { free = watch.expired(); }});
  Synchronize(*stream);
  EXPECT_TRUE(free);
}

TEST_F(StreamTest, MoreCommandsThanATurnHasShareTheWorkers) {
  // One worker, two streams: neither runs all of its commands before the other had a turn.
  WorkerPool one(1);
  const auto first = Stream::Create(one, clock_, OnFailure::kStop);
  const auto second = Stream::Create(one, clock_, OnFailure::kStop);
  Signal go;
  first->Enqueue(Await(go));
  for (uint64_t id = 0; id < 100; ++id) {
    first->Enqueue(Note(id, "first"));
    second->Enqueue(Note(id, "second"));
  }
  go.Notify();
  Synchronize(*first);
  Synchronize(*second);
  const std::vector<std::string> lines = log_.lines();
  const auto last_of = [&](const char* name) {
    return std::find(lines.rbegin(), lines.rend(), name);
  };
  const auto first_second = std::find(lines.begin(), lines.end(), "second");
  EXPECT_LT(first_second - lines.begin(), lines.rend() - last_of("first"));
}

// Random programs over many streams and events: every command ends exactly once, each stream in its
// order, and nothing waits for ever.
TEST_F(StreamTest, RandomProgramsEnd) {
  Rng rng = MakeRng(11);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::shared_ptr<Stream>> streams;
    streams.reserve(5);
    for (int i = 0; i < 5; ++i) {
      streams.push_back(MakeStream(i % 2 == 0 ? OnFailure::kStop : OnFailure::kContinue));
    }
    std::vector<Event> events(4);
    std::vector<std::vector<int>> ended(streams.size());
    std::vector<int> wanted(streams.size(), 0);
    for (int step = 0; step < 200; ++step) {
      const size_t at = rng() % streams.size();
      Event& event = events[rng() % events.size()];
      switch (rng() % 4) {
        case 0:
          streams[at]->Record(event);
          break;
        case 1:
          streams[at]->WaitFor(event).IgnoreError();  // not recorded yet, perhaps
          break;
        default:
          const bool fails = rng() % 16 == 0;
          streams[at]->Enqueue(
              {.id = static_cast<uint64_t>(step),
               .run = [fails] { return fails ? absl::InternalError("x") : absl::OkStatus(); },
               .done = [&list = ended[at],
                        n = wanted[at]++](const absl::Status&) { list.push_back(n); }});
      }
    }
    for (size_t i = 0; i < streams.size(); ++i) {
      Synchronize(*streams[i]);
      ASSERT_EQ(ended[i].size(), static_cast<size_t>(wanted[i]));
      EXPECT_TRUE(std::is_sorted(ended[i].begin(), ended[i].end()));
    }
  }
}

}  // namespace
}  // namespace opserve::testing
