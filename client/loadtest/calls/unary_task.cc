#include "client/loadtest/calls/unary_task.h"

#include <atomic>
#include <span>
#include <utility>

#include "absl/base/call_once.h"
#include "absl/strings/str_cat.h"
#include "client/cpp/wire/asked_outputs.h"
#include "client/cpp/wire/messages.h"
#include "client/loadtest/calls/answer_scan.h"

namespace opserve::loadtest {
namespace {

std::string_view PieceBytes(const client::Request::Piece& piece) {
  if (piece.view.empty()) return piece.own;
  return {reinterpret_cast<const char*>(piece.view.data()), piece.view.size()};
}

client::Call Reporting(client::Call call) { return call.ReportExecution(); }

// A call with inputs in memory of its own, so that a batch does not send them once for all.
client::Call WithOwnInputs(const client::Call& call) {
  client::Call copy(call.op());
  copy.OnDevice(call.device()).ReportExecution();
  for (const auto& [name, view] : call.inputs()) {
    auto bytes = std::make_shared<std::vector<std::byte>>(view.storage.begin(), view.storage.end());
    client::TensorView own = view;
    own.storage = *bytes;
    own.owner = std::move(bytes);
    copy.Input(name, std::move(own));
  }
  for (const auto& [name, value] : call.attributes()) copy.Attribute(name, value);
  for (const auto& [name, dtype] : call.output_dtypes()) copy.OutputDType(name, dtype);
  return copy;
}

client::Request MakeBatch(const Work& work, int calls) {
  std::vector<client::Call> copies;
  copies.reserve(static_cast<size_t>(calls));
  for (int i = 0; i < calls; ++i) copies.push_back(WithOwnInputs(work.call));
  return client::MakeExecuteBatchRequest(copies);
}

absl::Status NotAnAnswer() { return absl::InternalError("the server's answer is no message"); }

// What tasks share.
class CallTask : public UnaryTask {
 public:
  CallTask(std::string method, client::Request request, int64_t calls, const Work& work,
           const Expected& expected, Sampling& sampling)
      : method_(std::move(method)),
        request_(std::move(request)),
        calls_(calls),
        asked_(client::AskedOf(work.call)),
        expected_(expected),
        sampling_(sampling) {}

  const std::string& method() const override { return method_; }
  Message message() const override { return request_.message(); }

  Outcome Read(const absl::Status& status, const Answer& answer) const override {
    Outcome outcome{.status = status,
                    .calls = calls_,
                    .request_bytes = static_cast<int64_t>(request_.size_bytes())};
    if (!status.ok()) return outcome;
    outcome.answer_bytes = static_cast<int64_t>(answer.size_bytes());
    if (!Scan(answer.bytes(), outcome)) {
      outcome.status = NotAnAnswer();
      return outcome;
    }
    if (outcome.failed_calls == 0) absl::call_once(has_kept_, [&] { Keep(answer); });
    if (sampling_.Next()) {
      outcome.checked_calls = calls_ - outcome.failed_calls;
      outcome.status = Check(answer.bytes());
    }
    return outcome;
  }

  const std::string* first_answer() const override {
    return has_first_.load(std::memory_order_acquire) ? &first_answer_ : nullptr;
  }

 protected:
  virtual bool Scan(const Fragments& answer, Outcome& outcome) const = 0;
  virtual absl::Status Check(const Fragments& answer) const = 0;

  int64_t calls() const { return calls_; }
  const client::AskedOutputs& asked() const { return asked_; }
  const Expected& expected() const { return expected_; }

 private:
  void Keep(const Answer& answer) const {
    first_answer_ = answer.Prefix(answer.size_bytes());
    has_first_.store(true, std::memory_order_release);
  }

  const std::string method_;
  const StoredRequest request_;
  const int64_t calls_;
  const client::AskedOutputs asked_;
  const Expected& expected_;
  Sampling& sampling_;
  mutable absl::once_flag has_kept_;
  mutable std::string first_answer_;  // once `has_first_` is true
  mutable std::atomic<bool> has_first_ = false;
};

class ExecuteTask final : public CallTask {
 public:
  ExecuteTask(const Work& work, const Expected& expected, Sampling& sampling)
      : CallTask("/opserve.v1.OperatorService/Execute",
                 client::MakeExecuteRequest(Reporting(work.call)), 1, work, expected, sampling) {}

 private:
  bool Scan(const Fragments& answer, Outcome& outcome) const override {
    return ScanExecuteAnswer(answer, outcome);
  }
  absl::Status Check(const Fragments& answer) const override {
    const absl::StatusOr<client::ExecuteResult> result = client::ReadExecuteResult(answer, asked());
    return result.ok() ? expected().Check(*result) : result.status();
  }
};

class BatchTask final : public CallTask {
 public:
  BatchTask(const Work& work, int calls, const Expected& expected, Sampling& sampling)
      : CallTask("/opserve.v1.OperatorService/ExecuteBatch", MakeBatch(work, calls), calls, work,
                 expected, sampling) {}

 private:
  bool Scan(const Fragments& answer, Outcome& outcome) const override {
    return ScanBatchAnswer(answer, outcome);
  }
  absl::Status Check(const Fragments& answer) const override {
    const std::vector<client::AskedOutputs> asked_each(static_cast<size_t>(calls()), asked());
    const absl::StatusOr<client::BatchResults> results =
        client::ReadBatchResults(answer, asked_each.size(), asked_each);
    if (!results.ok()) return results.status();
    absl::Status status;
    for (const absl::StatusOr<client::ExecuteResult>& result : *results)
      if (result.ok()) status.Update(expected().Check(*result));
    return status;
  }
};

class UnaryLane final : public Lane {
 public:
  UnaryLane(std::unique_ptr<Connection> connection, UnaryTasks tasks)
      : tasks_(std::move(tasks)), connection_(std::move(connection)) {}

  void Send(size_t work, absl::Duration timeout, LaneDone done) override {
    const UnaryTask& task = *tasks_[work];
    connection_->Call(
        task.method(), task.message(), timeout,
        [&task, done = std::move(done)](const absl::Status& status, const Answer& answer) {
          done(task.Read(status, answer));
        });
  }

 private:
  const UnaryTasks tasks_;
  const std::unique_ptr<Connection> connection_;
};

}  // namespace

StoredRequest::StoredRequest(client::Request request) : request_(std::move(request)) {
  for (const client::Request::Piece& piece : request_.pieces()) {
    const std::string_view bytes = PieceBytes(piece);
    if (tail_.empty() && piece.view.empty()) {
      head_.append(bytes);
    } else {
      tail_.push_back(bytes);
    }
  }
}

std::shared_ptr<const UnaryTask> MakeExecuteTask(const Work& work, const Expected& expected,
                                                 Sampling& sampling) {
  return std::make_shared<ExecuteTask>(work, expected, sampling);
}

std::shared_ptr<const UnaryTask> MakeBatchTask(const Work& work, int calls,
                                               const Expected& expected, Sampling& sampling) {
  return std::make_shared<BatchTask>(work, calls, expected, sampling);
}

std::unique_ptr<Lane> MakeUnaryLane(std::unique_ptr<Connection> connection, UnaryTasks tasks) {
  return std::make_unique<UnaryLane>(std::move(connection), std::move(tasks));
}

}  // namespace opserve::loadtest
