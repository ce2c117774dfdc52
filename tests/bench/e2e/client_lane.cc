#include <atomic>
#include <cstddef>
#include <deque>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <opserve/client.h>

#include "absl/base/thread_annotations.h"
#include "client/cpp/wire/call_messages.h"
#include "client/cpp/wire/read_message.h"
#include "core/base/mutex.h"
#include "core/base/status_macros.h"
#include "tests/bench/e2e/lanes.h"

namespace opserve::bench {
namespace {

client::Call CallOf(const Workload& workload) {
  client::Call call(workload.call.op());
  for (size_t i = 0; i < workload.inputs.size(); ++i) {
    const v1::Tensor& input = workload.call.inputs(static_cast<int>(i));
    const std::vector<int64_t> shape(input.shape().begin(), input.shape().end());
    call.Input(input.name(),
               client::TensorView::OfBytes(client::FromWire(input.dtype()), shape,
                                           std::as_bytes(std::span(workload.inputs[i]))));
  }
  for (const v1::Attribute& attribute : workload.call.attributes())
    call.Attribute(attribute.name(), *client::ReadAttributeValue(attribute));
  return call;
}

absl::Status CheckOutput(const Workload& workload, const client::ExecuteResult& result) {
  const std::span<const std::byte> got = result.outputs.at(0).tensor.bytes();
  return CheckFloats(workload.output, {reinterpret_cast<const char*>(got.data()), got.size()});
}

// What both ways of calling share.
class ClientLane : public Lane {
 public:
  ClientLane(client::Client client, const Workload& workload)
      : client_(std::move(client)), call_(CallOf(workload)), workload_(workload) {}

 protected:
  Outcome OutcomeOf(const absl::StatusOr<client::ExecuteResult>& result) const {
    Outcome outcome{.status = result.status(), .calls = 1};
    if (!result.ok()) return outcome;
    outcome.request_bytes = workload_.input_bytes();
    outcome.answer_bytes = workload_.output_bytes();
    if (result->outputs.at(0).tensor.bytes().size() != workload_.output.size())
      outcome.status = absl::DataLossError("answers of different sizes");
    return outcome;
  }

  const client::Client client_;
  const client::Call call_;
  const Workload& workload_;
};

class AsyncLane final : public ClientLane {
 public:
  using ClientLane::ClientLane;

  void Send(size_t /*work*/, absl::Duration timeout, LaneDone done) override {
    client_.ExecuteAsync(
        call_, {.timeout = timeout},
        [this, done = std::move(done)](const absl::StatusOr<client::ExecuteResult>& result) {
          done(OutcomeOf(result));
        });
  }
};

// A thread goes on with the call that its own one let begin, without another one's waking.
class BlockingLane final : public ClientLane {
 public:
  BlockingLane(client::Client client, const Workload& workload, int threads)
      : ClientLane(std::move(client), workload) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
  }
  ~BlockingLane() override {
    {
      const MutexLock lock(mutex_);
      is_over_ = true;
    }
    changed_.NotifyAll();
    for (std::thread& thread : threads_) thread.join();
  }

  void Send(size_t /*work*/, absl::Duration timeout, LaneDone done) override {
    {
      const MutexLock lock(mutex_);
      waiting_.push_back({timeout, std::move(done)});
      if (idle_ == 0) return;
    }
    changed_.NotifyAll();
  }

 private:
  struct Waiting {
    absl::Duration timeout;
    LaneDone done;
  };

  std::optional<Waiting> Next() {
    const MutexLock lock(mutex_);
    ++idle_;
    while (waiting_.empty() && !is_over_) changed_.Wait(mutex_);
    --idle_;
    if (waiting_.empty()) return std::nullopt;
    std::optional<Waiting> next = std::move(waiting_.front());
    waiting_.pop_front();
    return next;
  }

  void Run() {
    while (const std::optional<Waiting> next = Next())
      next->done(OutcomeOf(client_.Execute(call_, {.timeout = next->timeout})));
  }

  Mutex mutex_;
  CondVar changed_;
  std::deque<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  int idle_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_over_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Lane>> MakeClientLane(const std::string& target,
                                                     const Workload& workload, int threads) {
  OPSERVE_ASSIGN_OR_RETURN(client::Client client, client::Client::Connect(target));
  // The second call is as all that follow, wherever its tensors are.
  for (int i = 0; i < 2; ++i) {
    OPSERVE_ASSIGN_OR_RETURN(const client::ExecuteResult result, client.Execute(CallOf(workload)));
    OPSERVE_RETURN_IF_ERROR(CheckOutput(workload, result));
  }
  if (threads > 0) return std::make_unique<BlockingLane>(std::move(client), workload, threads);
  return std::make_unique<AsyncLane>(std::move(client), workload);
}

}  // namespace opserve::bench
