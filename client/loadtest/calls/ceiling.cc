#include "client/loadtest/calls/ceiling.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/loadtest/calls/session_echo.h"
#include "client/loadtest/calls/session_lane.h"
#include "client/loadtest/load/measure.h"
#include "client/loadtest/transport/echo_server.h"
#include "core/base/status_macros.h"

namespace opserve::loadtest {
namespace {

// A task of the load's, to the server that does nothing.
class EchoTask final : public UnaryTask {
 public:
  EchoTask(std::shared_ptr<const UnaryTask> task, std::string method)
      : task_(std::move(task)), method_(std::move(method)) {}

  const std::string& method() const override { return method_; }
  Message message() const override { return task_->message(); }
  Outcome Read(const absl::Status& status, const Answer& answer) const override {
    return task_->Read(status, answer);
  }

 private:
  const std::shared_ptr<const UnaryTask> task_;
  const std::string method_;
};

// As the targets are reached.
EchoServer::Socket SocketOf(const std::vector<std::string>& targets) {
  const bool all_unix = std::all_of(targets.begin(), targets.end(), [](const std::string& target) {
    return target.starts_with("unix:");
  });
  return all_unix ? EchoServer::Socket::kUnix : EchoServer::Socket::kTcp;
}

absl::StatusOr<EchoServer::Answers> AnswersOf(const PreparedLoad& load) {
  EchoServer::Answers answers;
  if (load.options().mode == Mode::kSession) {
    // A mix cannot be moved: it is made in its place.
    std::unique_ptr<Mix> mix(new Mix(load.MakeMix()));  // NOLINT(modernize-make-unique)
    const auto echo = std::make_shared<SessionEcho>(load.expected(), std::move(mix));
    answers.stream_method = kSessionMethod;
    answers.stream = [echo](std::string_view message) { return echo->Answer(message); };
  }
  for (size_t i = 0; i < load.tasks().size(); ++i) {
    const std::string* answer = load.tasks()[i]->first_answer();
    if (answer == nullptr)
      return absl::FailedPreconditionError(absl::StrCat("no answer to ", load.works()[i].name));
    answers.unary.push_back(*answer);
  }
  return answers;
}

absl::StatusOr<Lanes> ConnectTo(const EchoServer& server, const PreparedLoad& load,
                                absl::Duration lifetime, Sampling& none) {
  UnaryTasks tasks;
  for (size_t i = 0; i < load.tasks().size(); ++i)
    tasks.push_back(std::make_shared<EchoTask>(load.tasks()[i], EchoServer::MethodOf(i)));
  const LoadOptions& options = load.options();
  // Of the server's address alone: its certificates and its token are none of this one's.
  client::ConnectOptions connect;
  connect.max_answer_bytes = options.connect.max_answer_bytes;
  Lanes lanes;
  for (size_t i = 0; i < static_cast<size_t>(options.connections) * options.targets.size(); ++i) {
    OPSERVE_ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection,
                             Connect(server.target(), options.patience, connect));
    lanes.push_back(
        options.mode == Mode::kSession
            ? MakeSessionLane(std::move(connection), load.works(), load.expected(), none, lifetime)
            : MakeUnaryLane(std::move(connection), tasks));
  }
  return lanes;
}

}  // namespace

absl::StatusOr<double> MeasureCeiling(const PreparedLoad& load, const CeilingOptions& options,
                                      const std::atomic<bool>& stop) {
  OPSERVE_ASSIGN_OR_RETURN(EchoServer::Answers answers, AnswersOf(load));
  OPSERVE_ASSIGN_OR_RETURN(const std::unique_ptr<EchoServer> server,
                           EchoServer::Start(std::move(answers), SocketOf(load.options().targets)));
  Sampling none(0);
  constexpr absl::Duration kSpare = absl::Seconds(30);
  OPSERVE_ASSIGN_OR_RETURN(
      const Lanes lanes,
      ConnectTo(*server, load, options.warm_up + options.duration + kSpare, none));
  // A call that the load would give up is one that this program can make.
  Mix mix = load.MakeMix(kSpare);
  const Level level{.name = "ceiling", .in_flight = options.in_flight};
  Measurement measurement = Measure(
      lanes, mix, level,
      {.warm_up = options.warm_up, .duration = options.duration, .window = options.duration},
      [](const Level&, const Window&) {}, stop);
  if (stop) return absl::CancelledError("it was interrupted");
  measurement.recorder->Merged();
  return measurement.recorder->ServedPerSecond();
}

}  // namespace opserve::loadtest
