#include <atomic>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "core/base/mutex.h"
#include "opserve/v1/session.pb.h"
#include "tests/bench/e2e/lanes.h"
#include "tests/bench/e2e/stream_answer.h"

namespace opserve::bench {
namespace {

constexpr const char* kSession = "/opserve.v1.SessionService/Session";
constexpr int kCheckedMessages = 16;
constexpr size_t kGroupBytes = size_t{64} << 10;

// What went wrong with the first command of `message` that failed.
absl::Status FailureIn(const std::string& message) {
  v1::SessionResponse response;
  response.ParseFromString(message);
  for (const v1::Answer& answer : response.answers()) {
    if (answer.has_error())
      return absl::InternalError(
          absl::StrCat("command ", answer.id(), ": ", answer.error().message()));
  }
  return absl::InternalError("a command failed");
}

// One stream's units.
class ScriptLane final : public Lane, public StreamHandler {
 public:
  ScriptLane(std::unique_ptr<Connection> connection, std::unique_ptr<StreamScript> script,
             Peer peer)
      : connection_(std::move(connection)), script_(std::move(script)), peer_(peer) {
    // The echo server needs no context and no buffer.
    if (peer == Peer::kOpserve) setup_left_ = script_->setup_messages();
  }
  ~ScriptLane() override {
    ending_ = true;
    stream_->Wake();
    over_.WaitForNotificationWithTimeout(absl::Seconds(1));
    stream_.reset();  // waits for OnEnd
  }

  void Open(absl::Duration lifetime) { stream_ = connection_->Open(kSession, lifetime, *this); }

  void Send(size_t /*work*/, absl::Duration /*timeout*/, LaneDone done) override {
    const absl::Status taken = TakeIn(done);
    if (!taken.ok()) return done({.status = taken});
    if (!answering_) stream_->Wake();
  }

  bool is_broken() const override {
    const MutexLock lock(mutex_);
    return !broken_.ok();
  }

  Next NextMessage(Message& message) override {
    const MutexLock lock(mutex_);
    if (step_ == 0 && wanted_.empty()) return ending_ ? Next::kEnd : Next::kNothingNow;
    if (setup_left_ > 0) {
      --setup_left_;
      message = script_->MakeSetup(next_id_++);
      return Next::kMessageAndMore;
    }
    if (script_->may_group()) {
      AddGroup(message);
    } else {
      AddStep(message);
    }
    return step_ == 0 && wanted_.empty() ? Next::kMessage : Next::kMessageAndMore;
  }

  void OnAnswer(const Answer& message) override {
    answering_ = true;
    std::vector<LaneDone> over;
    bool failed = false;
    const bool read = ForEachAnswer(peer_, message, [&](const StreamAnswer& answer) {
      failed = failed || answer.failed;
      if (answer.id != 0 && !answer.failed && !answer.more) TakeUnit(answer.id, over);
    });
    absl::Status status;
    if (!read) status = absl::InternalError("not a message of answers");
    if (failed) status = FailureIn(message.Prefix(message.size_bytes()));
    if (status.ok() && checks_left_ > 0) {
      --checks_left_;
      status = script_->Check(message.Prefix(message.size_bytes()));
    }
    const Outcome outcome{.status = status,
                          .request_bytes = script_->input_bytes(),
                          .answer_bytes = script_->output_bytes()};
    for (const LaneDone& done : over) done(outcome);
    if (!status.ok()) Break(status);
    answering_ = false;
    if (has_wanted()) stream_->Wake();
  }

  void OnEnd(const absl::Status& status) override {
    Break(status.ok() ? absl::UnavailableError("the server ended the stream") : status);
    over_.Notify();
  }

 private:
  // An error, and `done` stays as it is, once the stream is broken.
  absl::Status TakeIn(LaneDone& done) {
    const MutexLock lock(mutex_);
    if (broken_.ok()) wanted_.push_back(std::move(done));
    return broken_;
  }

  bool has_wanted() const {
    const MutexLock lock(mutex_);
    return !wanted_.empty();
  }

  // The unit that begins now ends with the answer to one of its messages.
  uint64_t BeginUnit() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    units_.emplace(next_id_ + static_cast<uint64_t>(script_->answered_message()),
                   std::move(wanted_.front()));
    wanted_.pop_front();
    return next_id_;
  }

  void AddStep(Message& message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (step_ == 0) unit_id_ = BeginUnit();
    message = script_->Make(step_, unit_id_);
    ++next_id_;
    step_ = (step_ + 1) % script_->messages_per_unit();
  }

  // Every unit that may begin now.
  void AddGroup(Message& message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    UnitGroup group;
    while (!wanted_.empty() && group.size_bytes() < kGroupBytes) {
      script_->AddUnit(BeginUnit(), group);
      ++next_id_;
    }
    message.head = std::move(group.commands);
    message.head.append(group.raw);
  }

  void TakeUnit(uint64_t id, std::vector<LaneDone>& over) {
    const MutexLock lock(mutex_);
    const auto found = units_.find(id);
    if (found == units_.end()) return;
    over.push_back(std::move(found->second));
    units_.erase(found);
  }

  void Break(const absl::Status& status) {
    std::vector<LaneDone> over;
    {
      const MutexLock lock(mutex_);
      broken_.Update(status);
      for (auto& [id, done] : units_) over.push_back(std::move(done));
      for (LaneDone& done : wanted_) over.push_back(std::move(done));
      units_.clear();
      wanted_.clear();
    }
    for (const LaneDone& done : over) done({.status = status});
  }

  const std::unique_ptr<Connection> connection_;
  const std::unique_ptr<StreamScript> script_;
  const Peer peer_;
  std::unique_ptr<Stream> stream_;
  std::atomic<bool> ending_ = false;
  std::atomic<bool> answering_ = false;  // OnAnswer is running; it wakes the stream at its end
  absl::Notification over_;
  int checks_left_ = kCheckedMessages;  // of OnAnswer alone
  mutable Mutex mutex_;
  absl::Status broken_ ABSL_GUARDED_BY(mutex_);
  std::deque<LaneDone> wanted_ ABSL_GUARDED_BY(mutex_);  // units that did not begin
  absl::flat_hash_map<uint64_t, LaneDone> units_ ABSL_GUARDED_BY(mutex_);  // by their last command
  int64_t setup_left_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t next_id_ ABSL_GUARDED_BY(mutex_) = 1;
  uint64_t unit_id_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t step_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace

std::unique_ptr<Lane> MakeScriptLane(std::unique_ptr<Connection> connection,
                                     std::unique_ptr<StreamScript> script, Peer peer,
                                     absl::Duration lifetime) {
  auto lane = std::make_unique<ScriptLane>(std::move(connection), std::move(script), peer);
  lane->Open(lifetime);
  return lane;
}

}  // namespace opserve::bench
