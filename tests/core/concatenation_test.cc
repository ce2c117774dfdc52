// Calls that wait for a device which says so run as one launch.
#include <algorithm>
#include <array>
#include <cstring>
#include <future>
#include <memory>
#include <semaphore>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "core/base/mutex.h"
#include "core/engine/engine.h"
#include "core/workers/worker_pool.h"
#include "gtest/gtest.h"
#include "tests/support/calls.h"
#include "tests/support/errors.h"
#include "tests/support/fake_clock.h"
#include "tests/support/manual_device.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

using Work = ManualDevice::Work;

// Maps whose factor is no mean's.
bool IsOfElements(const OpCall& call) {
  return call.op->name == "HardshrinkBackward" || call.op->name == "Hardshrink";
}

constexpr Concatenation kJoined = {
    .is_of_elements = IsOfElements, .max_calls = 16, .max_bytes = 1 << 20};

// A call on its way.
struct Pending {
  explicit Pending(OpCase made) : op_case(std::move(made)) {}

  OpCase op_case;
  bool cancelled = false;
  std::promise<void> ended;
  absl::StatusOr<Outputs> outputs;

  const absl::StatusOr<Outputs>& Wait() {
    ended.get_future().wait();
    return outputs;
  }
};

// Keeps a thread.
class Plug final : public WorkerPool::Task {
 public:
  Plug(std::counting_semaphore<>& plugged, absl::Notification& released)
      : plugged_(plugged), released_(released) {}

  void Run() override {
    plugged_.release();
    released_.WaitForNotification();
  }

 private:
  std::counting_semaphore<>& plugged_;
  absl::Notification& released_;
};

class ConcatenationTest : public ::testing::Test {
 protected:
  ConcatenationTest()
      : made_(MakeManualEngine(clock_, {.threads = 2, .concatenation = &kJoined})) {}

  void TearDown() override {
    for (absl::Notification& released : released_) {
      if (!released.HasBeenNotified()) released.Notify();
    }
  }

  // Until LetTheWorkerGo, what is added waits; then one worker runs it, one launch after the other.
  // The last plug keeps the other worker until the test ends, and with that relief threads away
  // (worker_pool.h). One of them may have taken the first plug, but no other one.
  void HoldTheWorker() {
    for (absl::Notification& released : released_) {
      device().workers().Enqueue(std::make_unique<Plug>(plugged_, released),
                                 WorkerPool::Size::kTiny);
    }
    for (int i = 0; i < 2; ++i) plugged_.acquire();
    released_[0].Notify();
    plugged_.acquire();
  }
  void LetTheWorkerGo() { released_[1].Notify(); }

  OpCase Gradient(int64_t elements, double lambd = 0.5, DType dtype = DType::kFloat32) {
    return CallOf(
        "HardshrinkBackward",
        {TestTensor::Random(dtype, {elements}, rng_), TestTensor::Random(dtype, {elements}, rng_)},
        {lambd});
  }

  Pending& Add(OpCase op_case, absl::Time deadline = absl::InfiniteFuture(),
               ClientId client = ClientId::kNone) {
    pending_.push_back(std::make_unique<Pending>(std::move(op_case)));
    Pending& pending = *pending_.back();
    OneShot shot;
    shot.plan = *made_.engine->MakePlan(ToNamedCall(pending.op_case));
    for (const auto& input : pending.op_case.inputs)
      shot.storages.emplace_back(std::span(input->bytes()));
    shot.client = client;
    shot.deadline = deadline;
    shot.cancelled = [&pending] { return pending.cancelled; };
    shot.done = [this, &pending](absl::StatusOr<Outputs> outputs) {
      NoteEnd(pending);
      pending.outputs = std::move(outputs);
      pending.ended.set_value();
    };
    made_.engine->Submit(std::move(shot));
    return pending;
  }

  // The same bits as by itself, on the CPU.
  static void ExpectRight(Pending& pending) {
    const absl::StatusOr<Outputs>& outputs = pending.Wait();
    ASSERT_THAT(outputs, IsOk());
    const auto alone = AllOutputs(pending.op_case);
    ASSERT_THAT(alone, IsOk());
    ASSERT_EQ(outputs->size(), alone->size());
    for (size_t i = 0; i < alone->size(); ++i) {
      const std::vector<std::byte>& want = (*alone)[i].bytes();
      ASSERT_EQ((*outputs)[i].bytes.size(), want.size());
      EXPECT_EQ(std::memcmp((*outputs)[i].bytes.data(), want.data(), want.size()), 0);
      EXPECT_EQ((*outputs)[i].desc.shape, (*alone)[i].desc().shape);
    }
  }

  void ExpectNothingLeft() {
    EXPECT_EQ(made_.engine->statistics().calls_in_flight, 0);
    EXPECT_EQ(made_.engine->statistics().bytes_in_flight, 0);
    for (const auto& pending : pending_) pending->outputs = Outputs();
    EXPECT_EQ(device().memory().stats().used_bytes, 0);
    EXPECT_EQ(device().host_memory().stats().used_bytes, 0);
  }

  void NoteEnd(const Pending& pending) {
    MutexLock lock(mutex_);
    ended_.push_back(&pending);
  }
  std::vector<const Pending*> Ended() {
    MutexLock lock(mutex_);
    return ended_;
  }

  ManualDevice& device() { return *made_.device; }
  int64_t launches() { return device().begun(Work::kKernel); }

  Rng rng_ = MakeRng(17);
  FakeClock clock_;
  std::counting_semaphore<> plugged_{0};
  std::array<absl::Notification, 3> released_;
  std::vector<std::unique_ptr<Pending>> pending_;
  Mutex mutex_;
  std::vector<const Pending*> ended_ ABSL_GUARDED_BY(mutex_);
  ManualEngine made_;
};

TEST_F(ConcatenationTest, CallsThatWaitAreOneLaunch) {
  HoldTheWorker();
  for (const int64_t elements : {1, 7, 64, 1000, 33, 4096}) Add(Gradient(elements));
  LetTheWorkerGo();
  for (const auto& pending : pending_) ExpectRight(*pending);
  EXPECT_EQ(launches(), 1);
  EXPECT_EQ(device().begun(Work::kUpload), 2);
  EXPECT_EQ(device().begun(Work::kDownload), 1);
  ExpectNothingLeft();
}

TEST_F(ConcatenationTest, ShapesAreFlattenedAndGivenBack) {
  HoldTheWorker();
  for (const Dims& shape : {Dims{2, 3, 4}, Dims{}, Dims{5, 1}}) {
    Add(CallOf("HardshrinkBackward",
               {TestTensor::Random(DType::kFloat16, shape, rng_),
                TestTensor::Random(DType::kFloat16, shape, rng_)},
               {0.25}));
  }
  LetTheWorkerGo();
  for (const auto& pending : pending_) ExpectRight(*pending);
  EXPECT_EQ(launches(), 1);
  ExpectNothingLeft();
}

TEST_F(ConcatenationTest, OnlyCallsThatAreAlikeAreJoined) {
  HoldTheWorker();
  for (int i = 0; i < 3; ++i) {
    Add(Gradient(10 + i));
    Add(Gradient(10 + i, 0.25));
    Add(Gradient(10 + i, 0.5, DType::kBFloat16));
    Add(CallOf("Hardshrink", {TestTensor::Random(DType::kFloat32, {10 + i}, rng_)}, {0.5}));
  }
  LetTheWorkerGo();
  for (const auto& pending : pending_) ExpectRight(*pending);
  EXPECT_EQ(launches(), 4);
  ExpectNothingLeft();
}

TEST_F(ConcatenationTest, WhatIsNoMapOfPlainElementsRunsByItself) {
  HoldTheWorker();
  for (int i = 0; i < 2; ++i) {
    Add(CallOf("L1LossBackward", {Floats({1}), Floats({2, 3}), Floats({3, 1})}, {int64_t{1}}));
    Add(CallOf("L1Loss", {Floats({2, 3}), Floats({3, 1})}, {int64_t{2}}));
    Add(CallOf("HardshrinkBackward", {Floats({2, 3, 4}), Floats({1})}, {0.5}));  // broadcast
    Add(CallOf("HardshrinkBackward", {Floats({2, 3, 4}).Scattered(2), Floats({1, 2, 3})}, {0.5}));
    Add(Gradient(1 << 17));  // more bytes than one launch is to have
  }
  LetTheWorkerGo();
  for (const auto& pending : pending_) ExpectRight(*pending);
  EXPECT_EQ(launches(), 10);
  ExpectNothingLeft();
}

TEST_F(ConcatenationTest, LaunchesAreBounded) {
  HoldTheWorker();
  for (int i = 0; i < 40; ++i) Add(Gradient(8));
  for (int i = 0; i < 5; ++i) Add(Gradient(30'000, 0.25));  // 360 kB each
  LetTheWorkerGo();
  for (const auto& pending : pending_) ExpectRight(*pending);
  EXPECT_EQ(launches(), 3 + 3);
  ExpectNothingLeft();
}

TEST_F(ConcatenationTest, NothingIsOvertakenButByGoingAlong) {
  HoldTheWorker();
  Pending& first = Add(Gradient(8));
  Pending& other = Add(Gradient(8, 0.25));
  Pending& along = Add(Gradient(8));
  Pending& last = Add(Gradient(8, 0.125));
  LetTheWorkerGo();
  for (const auto& pending : pending_) ExpectRight(*pending);
  EXPECT_EQ(Ended(), (std::vector<const Pending*>{&first, &along, &other, &last}));
  ExpectNothingLeft();
}

TEST_F(ConcatenationTest, AClientsTurnIsOneLaunchThatBeginsWithItsOwnCall) {
  HoldTheWorker();
  for (int i = 0; i < 40; ++i) Add(Gradient(8), absl::InfiniteFuture(), ClientId{1});
  Pending& other = Add(Gradient(8), absl::InfiniteFuture(), ClientId{2});
  LetTheWorkerGo();
  for (const auto& pending : pending_) ExpectRight(*pending);
  EXPECT_EQ(launches(), 3);
  const std::vector<const Pending*> ended = Ended();
  EXPECT_LE(std::find(ended.begin(), ended.end(), &other) - ended.begin(), kJoined.max_calls);
  ExpectNothingLeft();
}

TEST_F(ConcatenationTest, CancelledAndExpiredOnesAreDroppedBefore) {
  HoldTheWorker();
  Pending& good = Add(Gradient(8));
  Pending& cancelled = Add(Gradient(8));
  Pending& expired = Add(Gradient(8), clock_.Now() + absl::Seconds(1));
  Pending& also_good = Add(Gradient(9));
  cancelled.cancelled = true;
  clock_.Advance(absl::Seconds(2));
  LetTheWorkerGo();
  ExpectRight(good);
  ExpectRight(also_good);
  EXPECT_EQ(cancelled.Wait().status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(expired.Wait().status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(launches(), 1);
  EXPECT_EQ(made_.engine->statistics().cancelled_calls, 1);
  EXPECT_EQ(made_.engine->statistics().expired_calls, 1);
  ExpectNothingLeft();
}

TEST_F(ConcatenationTest, JoinedCallsAreCountedByTheirOperator) {
  HoldTheWorker();
  for (int64_t elements = 8; elements < 11; ++elements) Add(Gradient(elements));
  clock_.Advance(absl::Seconds(1));
  LetTheWorkerGo();
  for (const auto& pending : pending_) EXPECT_THAT(pending->Wait(), IsOk());
  EXPECT_EQ(launches(), 1);
  const EngineStatistics counted = made_.engine->statistics();
  EXPECT_EQ(counted.queued_calls, 3);
  ASSERT_EQ(counted.operators.size(), 1u);
  const OperatorStatistics& joined = counted.operators[0];
  EXPECT_EQ(joined.op, "HardshrinkBackward");
  EXPECT_EQ(joined.calls, 3);
  EXPECT_EQ(joined.queue_wait, absl::Seconds(3));
  EXPECT_EQ(joined.ended[0], 3);
  EXPECT_EQ(joined.queued[DurationBucket(absl::Seconds(1))], 3);
  EXPECT_EQ(joined.executed[0], 3);
  EXPECT_EQ(joined.input_bytes, 2 * 4 * (8 + 9 + 10));
  EXPECT_EQ(joined.output_bytes, 4 * (8 + 9 + 10));
  ExpectNothingLeft();
}

TEST_F(ConcatenationTest, AFailureIsThatOfTheCallWhichFailsByItself) {
  HoldTheWorker();
  const std::array calls = {&Add(Gradient(8)), &Add(Gradient(9)), &Add(Gradient(10)),
                            &Add(Gradient(11))};
  for (int i = 0; i < 2; ++i) device().FailNext(Work::kKernel);  // all, the first alone
  LetTheWorkerGo();
  ExpectError(calls[0]->Wait().status(), ErrorReason::kDeviceError, "device");
  for (size_t i = 1; i < calls.size(); ++i) ExpectRight(*calls[i]);
  EXPECT_EQ(launches(), 1 + 4);
  EXPECT_EQ(made_.engine->statistics().failed_calls, 1);
  ExpectNothingLeft();
}

TEST_F(ConcatenationTest, ABadCallIsRefusedAndNotJoined) {
  HoldTheWorker();
  Pending& good = Add(Gradient(8));
  OpCase bad = Gradient(8);
  OneShot shot;
  shot.plan = *made_.engine->MakePlan(ToNamedCall(bad));
  shot.storages = {Fragments(std::span(bad.inputs[0]->bytes())),
                   Fragments(std::span(bad.inputs[1]->bytes()).first(8))};
  absl::Status refused;
  shot.done = [&](const absl::StatusOr<Outputs>& outputs) { refused = outputs.status(); };
  made_.engine->Submit(std::move(shot));
  ExpectError(refused, kParamInvalid, "self");
  LetTheWorkerGo();
  ExpectRight(good);
  ExpectNothingLeft();
}

}  // namespace
}  // namespace opserve::testing
