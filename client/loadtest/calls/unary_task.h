// A message that is sent again and again as a unary call, and how its answer is read.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "client/cpp/values/request.h"
#include "client/loadtest/calls/expected.h"
#include "client/loadtest/calls/work.h"
#include "client/loadtest/figures/outcome.h"
#include "client/loadtest/load/lane.h"
#include "client/loadtest/transport/transport.h"

namespace opserve::loadtest {

// Immutable but for what it counts; thread-safe.
class UnaryTask {
 public:
  virtual ~UnaryTask() = default;
  virtual const std::string& method() const = 0;
  // Its bytes live as long as the task.
  virtual Message message() const = 0;
  virtual Outcome Read(const absl::Status& status, const Answer& answer) const = 0;
  // A copy of the first answer that was OK and read; nullptr before there is one.
  virtual const std::string* first_answer() const { return nullptr; }
};

using UnaryTasks = std::vector<std::shared_ptr<const UnaryTask>>;

// The bytes of a request, for Message: what is large is not copied.
class StoredRequest {
 public:
  explicit StoredRequest(client::Request request);
  StoredRequest(const StoredRequest&) = delete;
  StoredRequest& operator=(const StoredRequest&) = delete;

  Message message() const { return {head_, tail_}; }
  size_t size_bytes() const { return request_.size_bytes(); }

 private:
  const client::Request request_;
  std::string head_;
  std::vector<std::string_view> tail_;
};

// Execute of `work`. One in so many answers, as `sampling` says, is compared with `expected`. All
// three outlive the task.
std::shared_ptr<const UnaryTask> MakeExecuteTask(const Work& work, const Expected& expected,
                                                 Sampling& sampling);
// ExecuteBatch of `calls` of them, each with a copy of the inputs.
std::shared_ptr<const UnaryTask> MakeBatchTask(const Work& work, int calls,
                                               const Expected& expected, Sampling& sampling);

// Sends task `work` over a connection of its own.
std::unique_ptr<Lane> MakeUnaryLane(std::unique_ptr<Connection> connection, UnaryTasks tasks);

}  // namespace opserve::loadtest
