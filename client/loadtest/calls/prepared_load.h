// The calls of a load, tried once and ready to be sent, and the lanes that they are sent through.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <opserve/client.h>
#include <opserve/shared_memory.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/loadtest/calls/expected.h"
#include "client/loadtest/calls/mode.h"
#include "client/loadtest/calls/unary_task.h"
#include "client/loadtest/calls/work.h"
#include "client/loadtest/load/lane.h"
#include "client/loadtest/load/mix.h"

namespace opserve::loadtest {

struct LoadOptions {
  std::vector<std::string> targets;  // at least one; of kShared: exactly one, on this host
  int connections = 1;               // to each target
  int idle_connections = 0;          // more of them, which say nothing
  Mode mode = Mode::kUnary;
  int batch = 1;                // calls in a message of kBatch
  double checked_fraction = 0;  // of the answers, which are compared with the first
  uint64_t seed = 1;
  client::ConnectOptions connect;
  absl::Duration patience;  // for connections
};

// Not thread-safe. Lanes that it made must not outlive it.
class PreparedLoad {
 public:
  // Makes each call once at each target, alone: a mistake in one is found here, and the answers of
  // the first target are those that later ones are compared with. So targets must agree.
  static absl::StatusOr<std::unique_ptr<PreparedLoad>> Prepare(std::vector<Work> works,
                                                               const LoadOptions& options);

  // New connections. `lifetime` bounds what sessions last.
  absl::StatusOr<Lanes> Connect(absl::Duration lifetime);
  // No call gets less time than `shortest_timeout`.
  Mix MakeMix(absl::Duration shortest_timeout = absl::ZeroDuration()) const;

  const std::vector<Work>& works() const { return works_; }
  // The first answer to each.
  const std::vector<Expected>& expected() const { return expected_; }
  // The messages of each, but of Mode::kSession.
  const UnaryTasks& tasks() const { return tasks_; }
  const LoadOptions& options() const { return options_; }
  int64_t calls_made() const { return calls_made_; }  // by Prepare

 private:
  PreparedLoad(std::vector<Work> works, const LoadOptions& options)
      : works_(std::move(works)), options_(options), sampling_(options.checked_fraction) {}

  absl::Status TryAll();
  absl::Status MoveToSharedMemory(const client::Client& client, Work& work);
  void MakeTasks();

  std::vector<Work> works_;
  const LoadOptions options_;
  std::vector<Expected> expected_;  // of each work
  std::vector<client::SharedMemory> memory_;
  Sampling sampling_;
  UnaryTasks tasks_;
  std::vector<std::unique_ptr<Connection>> idle_;
  int64_t calls_made_ = 0;
};

}  // namespace opserve::loadtest
