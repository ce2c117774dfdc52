// Calls of 8 elements, as many as go: alone, 64 in flight, and in batches, 4 in flight. Against the
// server at $OPSERVE_TARGET, or one of its own in this process.
#include <unistd.h>

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <opserve/client.h>

#include "absl/strings/str_cat.h"
#include "core/base/mutex.h"
#include "server/server.h"

namespace opserve {
namespace {

using client::Call;
using client::Client;
using client::TensorView;

std::string Target() {
  if (const char* target = std::getenv("OPSERVE_TARGET")) return target;
  static const std::unique_ptr<server::Server> server = [] {
    server::ServerConfig config;
    config.listen = {absl::StrCat("unix:/tmp/opserve-call-bench-", ::getpid())};
    return *server::Server::Start(config);
  }();
  return server->addresses()[0];
}

const std::vector<float>& Ones() {
  static const std::vector<float> ones(8, 1.0f);
  return ones;
}

const std::vector<float>& Self() {
  static const std::vector<float> self = {0, 1, 2, 3, 4, 5, 6, 7};
  return self;
}

Call Sample() {
  Call call("SmoothL1LossBackward");
  call.Input("grad_out", TensorView::Of(Ones(), {4, 2}))
      .Input("self", TensorView::Of(Self(), {4, 2}))
      .Input("target", TensorView::Of(Ones(), {4, 2}))
      .Attribute("reduction", 0)
      .Attribute("beta", 1.0);
  return call;
}

// Lets `most` begin before the first of them has ended.
class InFlight {
 public:
  explicit InFlight(int64_t most) : most_(most) {}
  ~InFlight() { WaitFor(0); }
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

  void Begin() {
    WaitFor(most_ - 1);
    const MutexLock lock(mutex_);
    ++count_;
  }

  void End(bool ok) {
    if (!ok) {
      std::fputs("a call failed\n", stderr);
      std::abort();
    }
    {
      const MutexLock lock(mutex_);
      --count_;
    }
    ended_.NotifyAll();
  }

 private:
  void WaitFor(int64_t count) {
    const MutexLock lock(mutex_);
    while (count_ > count) ended_.Wait(mutex_);
  }

  const int64_t most_;
  Mutex mutex_;
  CondVar ended_;
  int64_t count_ ABSL_GUARDED_BY(mutex_) = 0;
};

void Alone(benchmark::State& state) {
  const Client client = *Client::Connect(Target());
  const Call call = Sample();
  {
    InFlight in_flight(state.range(0));
    for (auto _ : state) {
      in_flight.Begin();
      client.ExecuteAsync(call, {}, [&](const absl::StatusOr<client::ExecuteResult>& result) {
        in_flight.End(result.ok());
      });
    }
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(Alone)->ArgName("in_flight")->Arg(1)->Arg(64)->UseRealTime();

// Every call has inputs of its own.
void InBatches(benchmark::State& state) {
  const Client client = *Client::Connect(Target());
  const auto size = static_cast<size_t>(state.range(0));
  const std::vector<std::vector<float>> inputs(3 * size, Self());
  std::vector<Call> calls;
  for (size_t i = 0; i < size; ++i) {
    Call call("SmoothL1LossBackward");
    call.Input("grad_out", TensorView::Of(inputs[3 * i], {4, 2}))
        .Input("self", TensorView::Of(inputs[3 * i + 1], {4, 2}))
        .Input("target", TensorView::Of(inputs[3 * i + 2], {4, 2}))
        .Attribute("reduction", 0)
        .Attribute("beta", 1.0);
    calls.push_back(std::move(call));
  }
  {
    InFlight in_flight(4);
    for (auto _ : state) {
      in_flight.Begin();
      client.ExecuteBatchAsync(calls, {}, [&](const absl::StatusOr<client::BatchResults>& results) {
        in_flight.End(results.ok() && results->back().ok());
      });
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(InBatches)->ArgName("calls")->Arg(1)->Arg(10)->Arg(100)->Arg(1000)->UseRealTime();

}  // namespace
}  // namespace opserve
