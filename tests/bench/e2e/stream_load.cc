#include <atomic>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "opserve/v1/session.pb.h"
#include "tests/bench/e2e/load.h"
#include "tests/bench/e2e/stream_answer.h"

namespace opserve::bench {
namespace {

constexpr const char* kSession = "/opserve.v1.SessionService/Session";
constexpr int kCheckedMessages = 16;
constexpr size_t kGroupBytes = size_t{64} << 10;

// Units that began and are not over: where their answers find when that was. Ids grow, so that two
// meet in one place only when they are kPlaces apart.
class StartTimes {
 public:
  void Set(uint64_t id, absl::Time time) { places_[id % kPlaces] = absl::ToUnixNanos(time); }
  absl::Time Get(uint64_t id) const { return absl::FromUnixNanos(places_[id % kPlaces]); }

  static constexpr uint64_t kPlaces = 1 << 16;

 private:
  std::vector<std::atomic<int64_t>> places_ = std::vector<std::atomic<int64_t>>(kPlaces);
};

// One stream's units.
class StreamLoad final : public StreamHandler {
 public:
  StreamLoad(StreamScript& script, Peer peer, int units_in_flight, Recorder& recorder)
      : script_(script), peer_(peer), units_in_flight_(units_in_flight), recorder_(recorder) {
    // The echo server needs no context and no buffer.
    if (peer == Peer::kOpserve) setup_left_ = script.setup_messages();
  }

  void Attach(Stream& stream) {
    stream_ = &stream;
    stream.Wake();
  }
  void WaitForEnd() { over_.WaitForNotification(); }

  Next NextMessage(Message& message) override {
    if (stream_ == nullptr) return Next::kNothingNow;
    if (setup_left_ > 0) {
      --setup_left_;
      message = script_.MakeSetup(next_id_++);
      return Next::kMessageAndMore;
    }
    if (step_ == 0 && (failed_ || absl::Now() >= recorder_.layout().end)) return Next::kEnd;
    if (script_.may_group()) return NextGroup(message);
    if (step_ == 0) {
      if (outstanding_ >= units_in_flight_) return Next::kNothingNow;
      BeginUnit();
    }
    message = script_.Make(step_, unit_id_);
    ++next_id_;
    step_ = (step_ + 1) % script_.messages_per_unit();
    const bool more = step_ != 0 || outstanding_ < units_in_flight_;
    return more ? Next::kMessageAndMore : Next::kMessage;
  }

  void OnAnswer(const Answer& message) override {
    bool failed = false;
    const auto take = [&](const StreamAnswer& answer) {
      failed = failed || answer.failed;
      if (answer.id != 0 && !answer.failed && !answer.more) EndUnit(answer.id);
    };
    if (!ForEachAnswer(peer_, message, take))
      recorder_.Fault(absl::InternalError("not a message of answers"));
    if (failed) Fail(message.Prefix(message.size_bytes()));
    if (!failed && checks_left_ > 0) {
      --checks_left_;
      recorder_.Fault(script_.Check(message.Prefix(message.size_bytes())));
    }
    // Nothing is begun before Attach, which wakes the stream; but the notice may come earlier.
    if (Stream* stream = stream_) stream->Wake();
  }

  void OnEnd(const absl::Status& status) override {
    recorder_.Fault(status);
    over_.Notify();
  }

 private:
  // Every unit that may begin now.
  Next NextGroup(Message& message) {
    UnitGroup group;
    while (outstanding_ < units_in_flight_ && group.size_bytes() < kGroupBytes) {
      BeginUnit();
      script_.AddUnit(unit_id_, group);
      ++next_id_;
    }
    if (group.units == 0) return Next::kNothingNow;
    message.head = std::move(group.commands);
    message.head.append(group.raw);
    return outstanding_ < units_in_flight_ ? Next::kMessageAndMore : Next::kMessage;
  }

  void BeginUnit() {
    ++outstanding_;
    unit_id_ = next_id_;
    starts_.Set(unit_id_ + static_cast<uint64_t>(script_.answered_message()), absl::Now());
  }

  void EndUnit(uint64_t id) {
    recorder_.Record(starts_.Get(id), absl::Now(), absl::OkStatus());
    --outstanding_;
  }

  // No command of a load may fail.
  void Fail(const std::string& message) {
    v1::SessionResponse response;
    response.ParseFromString(message);
    for (const v1::Answer& answer : response.answers()) {
      if (!answer.has_error()) continue;
      recorder_.Fault(absl::InternalError(
          absl::StrCat("command ", answer.id(), ": ", answer.error().message())));
    }
    failed_ = true;
  }

  StreamScript& script_;
  const Peer peer_;
  const int units_in_flight_;
  Recorder& recorder_;
  std::atomic<Stream*> stream_ = nullptr;
  std::atomic<int> outstanding_ = 0;
  std::atomic<bool> failed_ = false;
  StartTimes starts_;
  absl::Notification over_;
  // Of NextMessage alone.
  int64_t setup_left_ = 0;
  uint64_t next_id_ = 1;
  uint64_t unit_id_ = 0;
  int64_t step_ = 0;
  // Of OnAnswer alone.
  int checks_left_ = kCheckedMessages;
};

}  // namespace

void RunStreams(const Connections& connections,
                const std::vector<std::unique_ptr<StreamScript>>& scripts, Peer peer,
                int units_in_flight, absl::Duration timeout, Recorder& recorder) {
  std::vector<std::unique_ptr<StreamLoad>> loads;
  std::vector<std::unique_ptr<Stream>> streams;
  const absl::Duration allowed = recorder.layout().end - absl::Now() + timeout;
  for (size_t i = 0; i < connections.size(); ++i) {
    loads.push_back(std::make_unique<StreamLoad>(*scripts[i], peer, units_in_flight, recorder));
    streams.push_back(connections[i]->Open(kSession, allowed, *loads.back()));
    loads.back()->Attach(*streams.back());
  }
  for (const std::unique_ptr<StreamLoad>& load : loads) load->WaitForEnd();
}

}  // namespace opserve::bench
