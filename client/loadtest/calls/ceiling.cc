#include "client/loadtest/calls/ceiling.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
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

absl::StatusOr<std::unique_ptr<EchoServer>> StartEcho(const PreparedLoad& load) {
  if (load.options().mode == Mode::kSession)
    return absl::UnimplementedError("sessions are not echoed");
  std::vector<std::string> answers;
  for (size_t i = 0; i < load.tasks().size(); ++i) {
    const std::string* answer = load.tasks()[i]->first_answer();
    if (answer == nullptr)
      return absl::FailedPreconditionError(absl::StrCat("no answer to ", load.works()[i].name));
    answers.push_back(*answer);
  }
  return EchoServer::Start(std::move(answers), SocketOf(load.options().targets));
}

absl::StatusOr<Lanes> ConnectTo(const EchoServer& server, const PreparedLoad& load) {
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
    lanes.push_back(MakeUnaryLane(std::move(connection), tasks));
  }
  return lanes;
}

}  // namespace

absl::StatusOr<double> MeasureCeiling(const PreparedLoad& load, const CeilingOptions& options,
                                      const std::atomic<bool>& stop) {
  OPSERVE_ASSIGN_OR_RETURN(const std::unique_ptr<EchoServer> server, StartEcho(load));
  OPSERVE_ASSIGN_OR_RETURN(const Lanes lanes, ConnectTo(*server, load));
  Mix mix = load.MakeMix();
  const Level level{.name = "ceiling", .in_flight = options.in_flight};
  Measurement measurement = Measure(lanes, mix, level,
                                    {.warm_up = options.warm_up,
                                     .duration = options.duration,
                                     .window = options.duration},
                                    [](const Level&, const Window&) {}, stop);
  if (stop) return absl::CancelledError("it was interrupted");
  measurement.recorder->Merged();
  return measurement.recorder->ServedPerSecond();
}

}  // namespace opserve::loadtest
