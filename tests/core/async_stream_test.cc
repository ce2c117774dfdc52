// Commands that end later than their turn, on real workers and without sleeps.
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/op_error.h"
#include "core/device/stream.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/fake_clock.h"
#include "tests/support/seed.h"
#include "tests/support/signal.h"
#include "tests/support/status_matchers.h"

namespace opserve {
namespace {

using ::testing::ElementsAre;
using testing::FakeClock;
using testing::Signal;
using Finished = Stream::AsyncCommand::Finished;

// A `finished` that a test keeps until it likes.
class Held {
 public:
  void Take(Finished finished) {
    MutexLock lock(mutex_);
    finished_ = std::move(finished);
    changed_.NotifyAll();
  }
  // Waits for it.
  Finished Get() {
    MutexLock lock(mutex_);
    while (!finished_) changed_.Wait(mutex_);
    return std::move(finished_);
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  Finished finished_ ABSL_GUARDED_BY(mutex_);
};

class AsyncStreamTest : public ::testing::Test {
 protected:
  using OnFailure = Stream::OnFailure;

  std::shared_ptr<Stream> MakeStream(OnFailure on_failure = OnFailure::kStop) {
    return Stream::Create(workers_, clock_, on_failure);
  }

  void Note(std::string line) {
    MutexLock lock(mutex_);
    lines_.push_back(std::move(line));
  }
  std::vector<std::string> lines() {
    MutexLock lock(mutex_);
    return lines_;
  }

  // Starts, hands its `finished` to `held`, and notes its end.
  Stream::AsyncCommand Hand(uint64_t id, Held& held) {
    return {.id = id,
            .start = [&held](Finished finished) { held.Take(std::move(finished)); },
            .done = NoteEnd(id)};
  }
  Stream::Command Plain(uint64_t id) {
    return {.id = id,
            .run =
                [this, id] {
                  Note(std::to_string(id));
                  return absl::OkStatus();
                },
            .done = NoteEnd(id)};
  }
  absl::AnyInvocable<void(absl::Status)> NoteEnd(uint64_t id) {
    return [this, id](const absl::Status& status) {
      const std::optional<ErrorDetail> detail = GetErrorDetail(status);
      const std::string name =
          status.ok() ? "OK" : std::string(GetErrorReasonInfo(detail->reason).name);
      Note(std::to_string(id) + " " + name);
    };
  }

  static Stream::Failure Synchronize(Stream& stream) {
    Signal ended;
    Stream::Failure result;
    stream.Synchronize([&](Stream::Failure failure) {
      result = std::move(failure);
      ended.Notify();
    });
    ended.Wait();
    return result;
  }

  static absl::Status Broken() {
    return MakeError({.reason = ErrorReason::kDeviceError, .op = {}, .parameter = "device"});
  }

  Mutex mutex_;
  std::vector<std::string> lines_ ABSL_GUARDED_BY(mutex_);
  FakeClock clock_;
  WorkerPool workers_{2};
};

TEST_F(AsyncStreamTest, WhatComesBehindWaitsForTheEnd) {
  const auto stream = MakeStream();
  Held held;
  Event event;
  stream->Enqueue(Hand(1, held));
  stream->Record(event);
  stream->Enqueue(Plain(2));
  Finished finished = held.Get();
  EXPECT_FALSE(*event.Query());
  EXPECT_FALSE(stream->IsIdle());
  EXPECT_TRUE(lines().empty());
  finished(absl::OkStatus());
  EXPECT_THAT(Synchronize(*stream).status, testing::IsOk());
  EXPECT_TRUE(*event.Query());
  EXPECT_THAT(lines(), ElementsAre("1 OK", "2", "2 OK"));
}

TEST_F(AsyncStreamTest, WaitingTakesNoWorker) {
  // More commands wait than there are workers, and another stream still gets its turn.
  std::vector<std::shared_ptr<Stream>> waiting;
  std::vector<Held> held(6);
  for (Held& one : held) {
    waiting.push_back(MakeStream());
    waiting.back()->Enqueue(Hand(1, one));
  }
  std::vector<Finished> finished;
  finished.reserve(held.size());
  for (Held& one : held) finished.push_back(one.Get());
  const auto stream = MakeStream();
  stream->Enqueue(Plain(2));
  EXPECT_THAT(Synchronize(*stream).status, testing::IsOk());
  EXPECT_THAT(lines(), ElementsAre("2", "2 OK"));
  for (Finished& one : finished) one(absl::OkStatus());
  for (const auto& one : waiting) EXPECT_THAT(Synchronize(*one).status, testing::IsOk());
}

TEST_F(AsyncStreamTest, OneThatFinishesAtOnceIsLikeAnyOther) {
  const auto stream = MakeStream();
  std::vector<std::string> want;
  for (uint64_t id = 1; id <= 100; ++id) {
    stream->Enqueue(
        Stream::AsyncCommand{.id = id,
                             .start = [](Finished finished) { finished(absl::OkStatus()); },
                             .done = NoteEnd(id)});
    want.push_back(std::to_string(id) + " OK");
  }
  EXPECT_THAT(Synchronize(*stream).status, testing::IsOk());
  EXPECT_EQ(lines(), want);
}

TEST_F(AsyncStreamTest, FailuresStopTheStreamOrDoNot) {
  for (const OnFailure on_failure : {OnFailure::kStop, OnFailure::kContinue}) {
    const auto stream = MakeStream(on_failure);
    Held held;
    stream->Enqueue(Hand(7, held));
    stream->Enqueue(
        Stream::AsyncCommand{.id = 8,
                             .start = [](Finished finished) { finished(absl::OkStatus()); },
                             .done = NoteEnd(8)});
    held.Get()(Broken());
    const Stream::Failure failure = Synchronize(*stream);
    EXPECT_EQ(failure.command, 7u);
    EXPECT_EQ(GetErrorDetail(failure.status)->reason, ErrorReason::kDeviceError);
  }
  EXPECT_THAT(lines(), ElementsAre("7 DEVICE_ERROR", "8 STREAM_FAILED", "7 DEVICE_ERROR", "8 OK"));
}

TEST_F(AsyncStreamTest, OneThatIsForgottenFails) {
  const auto stream = MakeStream();
  Held held;
  stream->Enqueue(Stream::AsyncCommand{.id = 1, .start = [](Finished) {}, .done = NoteEnd(1)});
  EXPECT_EQ(Synchronize(*stream).command, 1u);
  stream->Enqueue(Hand(2, held));
  { const Finished dropped = held.Get(); }
  EXPECT_EQ(Synchronize(*stream).command, 2u);
  EXPECT_THAT(lines(), ElementsAre("1 INTERNAL", "2 INTERNAL"));
}

TEST_F(AsyncStreamTest, FinishingTwiceIsFinishingOnce) {
  const auto stream = MakeStream();
  Held held;
  stream->Enqueue(Hand(1, held));
  Finished finished = held.Get();
  finished(absl::OkStatus());
  finished(Broken());
  EXPECT_THAT(Synchronize(*stream).status, testing::IsOk());
  EXPECT_THAT(lines(), ElementsAre("1 OK"));
}

TEST_F(AsyncStreamTest, AbandonLeavesWhatRunsToEndByItself) {
  const auto stream = MakeStream();
  Held held;
  bool started = false;
  stream->Enqueue(Hand(1, held));
  stream->Enqueue(Stream::AsyncCommand{
      .id = 2, .start = [&](Finished) { started = true; }, .done = NoteEnd(2)});
  Finished finished = held.Get();
  stream->Abandon();
  EXPECT_THAT(lines(), ElementsAre("2 CANCELLED"));
  EXPECT_FALSE(stream->IsIdle());
  finished(absl::OkStatus());
  // `start` may not have returned yet.
  while (!stream->IsIdle()) std::this_thread::yield();
  EXPECT_FALSE(started);
  EXPECT_THAT(lines(), ElementsAre("2 CANCELLED", "1 OK"));
}

TEST_F(AsyncStreamTest, WhatItHoldsIsFreeBeforeDone) {
  const auto stream = MakeStream();
  auto memory = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = memory;
  std::atomic<bool> free = false;
  stream->Enqueue(Stream::AsyncCommand{
      .id = 1,
      .start = [memory = std::move(memory)](Finished finished) { finished(absl::OkStatus()); },
      .done = [&](const absl::Status&) { free = watch.expired(); }});
  EXPECT_THAT(Synchronize(*stream).status, testing::IsOk());
  EXPECT_TRUE(free);
}

// The stream is kept by what was started on it alone.
TEST_F(AsyncStreamTest, OutlivesItsOwner) {
  Held held;
  Signal ended;
  MakeStream()->Enqueue(
      Stream::AsyncCommand{.id = 1,
                           .start = [&](Finished finished) { held.Take(std::move(finished)); },
                           .done =
                               [&](const absl::Status& status) {
                                 EXPECT_THAT(status, testing::IsOk());
                                 ended.Notify();
                               }});
  held.Get()(absl::OkStatus());
  ended.Wait();
}

// Ends on other threads, at any time against the return of `start`: each once, in order.
TEST_F(AsyncStreamTest, EndsOnOtherThreads) {
  testing::Rng rng = testing::MakeRng(12);
  for (int round = 0; round < 20; ++round) {
    const auto stream = MakeStream(OnFailure::kContinue);
    std::vector<std::thread> threads;
    Mutex mutex;
    std::vector<uint64_t> ended;
    uint64_t failures = 0;
    for (uint64_t id = 1; id <= 40; ++id) {
      const bool fails = rng() % 8 == 0;
      if (fails && failures == 0) failures = id;
      stream->Enqueue(Stream::AsyncCommand{
          .id = id,
          .start =
              [&, fails](Finished finished) {
                MutexLock lock(mutex);
                threads.emplace_back([fails, end = std::move(finished)]() mutable {
                  end(fails ? absl::InternalError("x") : absl::OkStatus());
                });
              },
          .done = [&ended, id](const absl::Status&) { ended.push_back(id); }});
    }
    EXPECT_EQ(Synchronize(*stream).command, failures);
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(ended.size(), 40u);
    for (uint64_t id = 1; id <= 40; ++id) EXPECT_EQ(ended[id - 1], id);
  }
}

}  // namespace
}  // namespace opserve
