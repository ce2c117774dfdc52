#include <atomic>
#include <string>
#include <utility>

#include "absl/synchronization/notification.h"
#include "client/loadtest/calls/unary_task.h"
#include "tests/bench/e2e/lanes.h"

namespace opserve::bench {
namespace {

class BytesTask final : public loadtest::UnaryTask {
 public:
  explicit BytesTask(const bench::UnaryTask& task) : task_(task) {}

  const std::string& method() const override { return task_.method; }
  Message message() const override { return task_.message.Get(); }
  Outcome Read(const absl::Status& status, const Answer& answer) const override {
    Outcome outcome{.status = status, .calls = task_.calls};
    if (!status.ok()) return outcome;
    outcome.request_bytes = task_.input_bytes;
    outcome.answer_bytes = task_.output_bytes;
    // All answers to one message have one size.
    const size_t size = answer.size_bytes();
    size_t known = 0;
    if (!size_.compare_exchange_strong(known, size) && known != size)
      outcome.status = absl::DataLossError("answers of different sizes");
    return outcome;
  }

 private:
  const bench::UnaryTask& task_;
  mutable std::atomic<size_t> size_ = 0;
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

std::unique_ptr<Lane> MakeTaskLane(std::unique_ptr<Connection> connection, const UnaryTask& task) {
  return loadtest::MakeUnaryLane(std::move(connection), {std::make_shared<BytesTask>(task)});
}

}  // namespace opserve::bench
