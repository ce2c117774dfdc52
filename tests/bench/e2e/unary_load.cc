#include <sys/prctl.h>

#include <atomic>
#include <thread>
#include <utility>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "core/base/mutex.h"
#include "tests/bench/e2e/load.h"

namespace opserve::bench {
namespace {

// How many messages are under way, and a wait for the last.
class Outstanding {
 public:
  int64_t Add() { return count_.fetch_add(1) + 1; }
  void Remove() {
    if (count_.fetch_sub(1) != 1) return;
    MutexLock lock(mutex_);
    none_.NotifyAll();
  }
  void WaitForNone() {
    MutexLock lock(mutex_);
    while (count_.load() > 0) none_.Wait(mutex_);
  }

 private:
  std::atomic<int64_t> count_ = 0;
  Mutex mutex_;
  CondVar none_;
};

class AnswerSize {
 public:
  explicit AnswerSize(Recorder& recorder) : recorder_(recorder) {}

  // All answers to one message have one size.
  void Check(const absl::Status& status, const Answer& answer) {
    if (!status.ok()) return;
    const size_t size = answer.size_bytes();
    size_t known = 0;
    if (size_.compare_exchange_strong(known, size) || known == size) return;
    recorder_.Fault(absl::InternalError("answers of different sizes"));
  }

 private:
  Recorder& recorder_;
  std::atomic<size_t> size_ = 0;
};

class ClosedLoop {
 public:
  ClosedLoop(const UnaryTask& task, absl::Duration timeout, Recorder& recorder)
      : task_(task), message_(task.message.Get()), timeout_(timeout), recorder_(recorder) {}

  void Run(const Connections& connections, int in_flight) {
    for (int i = 0; i < in_flight; ++i) {
      outstanding_.Add();
      Send(*connections[static_cast<size_t>(i) % connections.size()]);
    }
    outstanding_.WaitForNone();
  }

 private:
  void Send(Connection& connection) {
    const absl::Time sent = absl::Now();
    connection.Call(task_.method, message_, timeout_,
                    [this, &connection, sent](const absl::Status& status, const Answer& answer) {
                      Done(connection, sent, status, answer);
                    });
  }

  void Done(Connection& connection, absl::Time sent, const absl::Status& status,
            const Answer& answer) {
    const absl::Time now = absl::Now();
    size_.Check(status, answer);
    recorder_.Record(sent, now, status);
    if (now < recorder_.layout().end) return Send(connection);
    outstanding_.Remove();
  }

  const UnaryTask& task_;
  const Message message_;
  const absl::Duration timeout_;
  Recorder& recorder_;
  AnswerSize size_{recorder_};
  Outstanding outstanding_;
};

class OpenLoop {
 public:
  OpenLoop(const Connections& connections, const UnaryTask& task, const OpenLoopOptions& options,
           absl::Duration timeout, Recorder& recorder)
      : connections_(connections),
        task_(task),
        message_(task.message.Get()),
        options_(options),
        timeout_(timeout),
        recorder_(recorder) {}

  void Run() {
    std::vector<std::thread> threads;
    threads.reserve(static_cast<size_t>(options_.threads));
    for (int i = 0; i < options_.threads; ++i) threads.emplace_back([this, i] { SendAll(i); });
    for (std::thread& thread : threads) thread.join();
    outstanding_.WaitForNone();
  }

 private:
  void SendAll(int thread) {
    prctl(PR_SET_TIMERSLACK, 1000);  // ns; the default of 50 us would show in every latency
    std::vector<RatePhase> phases = options_.phases;
    for (RatePhase& phase : phases) phase.per_second /= options_.threads;
    Arrivals arrivals(phases, Spacing::kRandom, options_.seed + static_cast<uint64_t>(thread));
    auto turn = static_cast<size_t>(thread);
    while (const auto arrival = arrivals.Next()) {
      const absl::Time due = options_.begin + arrival->at;
      const absl::Duration early = due - absl::Now();
      if (early > absl::ZeroDuration()) absl::SleepFor(early);
      Send(*connections_[turn++ % connections_.size()], due);
    }
  }

  void Send(Connection& connection, absl::Time due) {
    const absl::Duration left = due + timeout_ - absl::Now();
    const bool room = outstanding_.Add() <= options_.max_outstanding;
    if (!room || left <= absl::ZeroDuration()) {
      outstanding_.Remove();
      return recorder_.RecordUnsent(due);
    }
    connection.Call(task_.method, message_, left,
                    [this, due](const absl::Status& status, const Answer& answer) {
                      size_.Check(status, answer);
                      recorder_.RecordDue(due, absl::Now(), status);
                      outstanding_.Remove();
                    });
  }

  const Connections& connections_;
  const UnaryTask& task_;
  const Message message_;
  const OpenLoopOptions& options_;
  const absl::Duration timeout_;
  Recorder& recorder_;
  AnswerSize size_{recorder_};
  Outstanding outstanding_;
};

}  // namespace

absl::Status TryOnce(Connection& connection, const UnaryTask& task, absl::Duration timeout) {
  absl::Notification over;
  absl::Status result;
  connection.Call(task.method, task.message.Get(), timeout,
                  [&](const absl::Status& status, const Answer& answer) {
                    result = status.ok() ? task.check(answer.Prefix(answer.size_bytes())) : status;
                    over.Notify();
                  });
  over.WaitForNotification();
  return result;
}

void RunClosedLoop(const Connections& connections, const UnaryTask& task, int in_flight,
                   absl::Duration timeout, Recorder& recorder) {
  ClosedLoop(task, timeout, recorder).Run(connections, in_flight);
}

void RunOpenLoop(const Connections& connections, const UnaryTask& task,
                 const OpenLoopOptions& options, absl::Duration timeout, Recorder& recorder) {
  OpenLoop(connections, task, options, timeout, recorder).Run();
}

}  // namespace opserve::bench
