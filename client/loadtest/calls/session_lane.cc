#include "client/loadtest/calls/session_lane.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <span>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "client/loadtest/calls/answer_scan.h"
#include "client/loadtest/calls/session_work.h"
#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "opserve/v1/session.pb.h"

namespace opserve::loadtest {
namespace {

// Of a message of several commands.
constexpr size_t kGroupBytes = size_t{64} << 10;
constexpr uint32_t kGroupEntries = 512;

struct Waiting {
  size_t work = 0;
  absl::Duration timeout;
  absl::Time deadline;
  LaneDone done;
};

struct Pending {
  size_t work = 0;
  absl::Time deadline;
  LaneDone done;
};

class SessionLane final : public Lane, public StreamHandler {
 public:
  SessionLane(std::unique_ptr<Connection> connection, const std::vector<Work>& works,
              const std::vector<Expected>& expected, Sampling& sampling)
      : connection_(std::move(connection)),
        works_(works.begin(), works.end()),
        expected_(expected),
        sampling_(sampling) {
    for (const SessionWork& work : works_) request_bytes_.push_back(work.request_bytes());
  }
  ~SessionLane() override {
    ending_ = true;
    if (stream_ != nullptr) stream_->Wake();
    over_.WaitForNotificationWithTimeout(absl::Seconds(1));
    stream_.reset();  // waits for OnEnd
  }

  void Open(absl::Duration lifetime) {
    stream_ = connection_->Open(kSessionMethod, lifetime, *this);
  }

  void Send(size_t work, absl::Duration timeout, LaneDone done) override {
    Waiting next{work, timeout, Clock::Real().Now() + timeout, std::move(done)};
    if (!TakeIn(next)) return next.done({.status = absl::UnavailableError("the session is over")});
    // What is sent because of an answer goes together, once all of the message was looked at.
    if (!answering_) stream_->Wake();
  }

  // Most of it the server ends by itself, in the same time.
  void Expire(absl::Time now) override {
    std::vector<LaneDone> over;
    {
      const MutexLock lock(mutex_);
      if (now < earliest_) return;
      absl::Time earliest = absl::InfiniteFuture();
      const auto expire = [&](auto& one) {
        if (one.deadline <= now) over.push_back(std::move(one.done));
        if (one.deadline > now) earliest = std::min(earliest, one.deadline);
        return one.deadline <= now;
      };
      std::erase_if(waiting_, expire);
      absl::erase_if(pending_, [&](auto& entry) { return expire(entry.second); });
      earliest_ = earliest;
    }
    for (const LaneDone& done : over)
      done({.status = absl::DeadlineExceededError("no answer on the session in time")});
  }

  bool is_broken() const override {
    const MutexLock lock(mutex_);
    return broken_;
  }

  Next NextMessage(Message& message) override {
    const MutexLock lock(mutex_);
    if (waiting_.empty()) return ending_ ? Next::kEnd : Next::kNothingNow;
    if (works_[waiting_.front().work].is_large()) {
      AddLarge(message);
    } else {
      AddGroup(message);
    }
    return waiting_.empty() ? Next::kMessage : Next::kMessageAndMore;
  }

  void OnAnswer(const Answer& message) override {
    answering_ = true;
    std::vector<std::pair<LaneDone, Outcome>> over;
    const absl::Status check = sampling_.Next() ? Check(message) : absl::UnknownError("");
    const bool checked = !absl::IsUnknown(check);
    const bool read = ScanSessionAnswers(message.bytes(), [&](const SessionAnswer& answer) {
      if (answer.id != 0 && !answer.more) TakePending(answer, over);
    });
    for (auto& [done, outcome] : over) {
      // Of a message with several answers, each has its part.
      outcome.answer_bytes = static_cast<int64_t>(message.size_bytes() / over.size());
      if (checked && outcome.status.ok()) {
        outcome.checked_calls = 1;
        outcome.status = check;
      }
      done(outcome);
    }
    if (!read) Break(absl::InternalError("the server's answer on the session is no message"));
    answering_ = false;
    if (IsAnyWaiting()) stream_->Wake();
  }

  void OnEnd(const absl::Status& status) override {
    Break(status.ok() ? absl::UnavailableError("the server ended the session") : status);
    over_.Notify();
  }

 private:
  // False, and `next` stays as it is, once the session is broken.
  bool TakeIn(Waiting& next) {
    const MutexLock lock(mutex_);
    if (broken_) return false;
    earliest_ = std::min(earliest_, next.deadline);
    waiting_.push_back(std::move(next));
    return true;
  }

  bool IsAnyWaiting() const {
    const MutexLock lock(mutex_);
    return !waiting_.empty();
  }

  // Puts the next command into `message`, and remembers who waits for its answer.
  void AddNext(uint32_t first_entry, std::string& message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    const uint64_t id = next_id_++;
    works_[next.work].AppendCommand(id, first_entry, next.timeout, message);
    pending_.emplace(id, Pending{next.work, next.deadline, std::move(next.done)});
  }

  void AddLarge(Message& message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    message.tail = works_[waiting_.front().work].large_raw();
    AddNext(0, message.head);
  }

  void AddGroup(Message& message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    std::string raw;
    uint32_t entries = 0;
    while (!waiting_.empty() && message.head.size() + raw.size() < kGroupBytes) {
      const SessionWork& work = works_[waiting_.front().work];
      if (work.is_large() || entries + work.entries() > kGroupEntries) break;
      AddNext(entries, message.head);
      work.AppendRaw(raw);
      entries += work.entries();
    }
    message.head.append(raw);
  }

  void TakePending(const SessionAnswer& answer, std::vector<std::pair<LaneDone, Outcome>>& over) {
    const MutexLock lock(mutex_);
    const auto found = pending_.find(answer.id);
    if (found == pending_.end()) return;
    Outcome outcome = answer.outcome;
    outcome.request_bytes = request_bytes_[found->second.work];
    over.emplace_back(std::move(found->second.done), std::move(outcome));
    pending_.erase(found);
  }

  // Whether all outputs in a message are those that are expected.
  absl::Status Check(const Answer& message) {
    v1::SessionResponse response;
    if (!response.ParseFromString(message.Prefix(message.size_bytes())))
      return absl::InternalError("the server's answer on the session is no message");
    absl::Status status;
    for (const v1::Answer& answer : response.answers())
      if (answer.has_outputs()) status.Update(CheckOutputs(answer, response));
    return status;
  }

  absl::Status CheckOutputs(const v1::Answer& answer, const v1::SessionResponse& response) {
    const Expected* expected = nullptr;
    {
      const MutexLock lock(mutex_);
      const auto found = pending_.find(answer.id());
      if (found == pending_.end()) return absl::OkStatus();
      expected = &expected_[found->second.work];
    }
    const auto& outputs = answer.outputs().outputs();
    if (static_cast<size_t>(outputs.size()) != expected->outputs())
      return absl::DataLossError(absl::StrCat("wrong answer: want ", expected->outputs(),
                                              " outputs, got ", outputs.size()));
    absl::Status status;
    for (int i = 0; i < outputs.size(); ++i) {
      const uint32_t index = outputs[i].raw_index();
      if (index >= static_cast<uint32_t>(response.raw_size()))
        return absl::DataLossError("wrong answer: an output without bytes");
      const std::string& raw = response.raw(static_cast<int>(index));
      status.Update(expected->CheckOutput(static_cast<size_t>(i), outputs[i].name(),
                                          std::as_bytes(std::span(raw))));
    }
    return status;
  }

  // Whatever is under way ends with `status`, and nothing more is sent.
  void Break(const absl::Status& status) {
    std::vector<LaneDone> over;
    {
      const MutexLock lock(mutex_);
      broken_ = true;
      for (auto& [id, pending] : pending_) over.push_back(std::move(pending.done));
      pending_.clear();
      for (Waiting& waiting : waiting_) over.push_back(std::move(waiting.done));
      waiting_.clear();
    }
    for (const LaneDone& done : over) done({.status = status});
  }

  const std::unique_ptr<Connection> connection_;
  std::vector<SessionWork> works_;      // of NextMessage alone
  std::vector<int64_t> request_bytes_;  // of each
  const std::vector<Expected>& expected_;
  Sampling& sampling_;
  std::unique_ptr<Stream> stream_;
  std::atomic<bool> ending_ = false;
  std::atomic<bool> answering_ = false;  // OnAnswer is running, and wakes the stream at its end
  absl::Notification over_;
  mutable Mutex mutex_;
  bool broken_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t next_id_ ABSL_GUARDED_BY(mutex_) = 1;
  absl::Time earliest_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();  // deadline, or before
  std::deque<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<uint64_t, Pending> pending_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<Lane> MakeSessionLane(std::unique_ptr<Connection> connection,
                                      const std::vector<Work>& works,
                                      const std::vector<Expected>& expected, Sampling& sampling,
                                      absl::Duration lifetime) {
  auto lane = std::make_unique<SessionLane>(std::move(connection), works, expected, sampling);
  lane->Open(lifetime);
  return lane;
}

}  // namespace opserve::loadtest
