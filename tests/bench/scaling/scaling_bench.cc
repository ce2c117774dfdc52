// Calls and bytes a second of an engine for 1 … N threads, and the processor time and the waits for
// locks of each call: how these grow with few threads says what many would do. `servers`, in this
// folder, has gRPC in between.
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "CLI/CLI.hpp"
#include "core/base/mutex.h"
#include "core/base/waiter.h"
#include "core/engine/engine.h"
#include "core/op/op_table.h"

namespace opserve::bench {
namespace {

struct Workload {
  const char* name;
  int64_t elements;
  int callers_per_thread;  // 0: one caller, whatever the threads
};

const Workload kWorkloads[] = {
    {"8 floats, run inline", 8, 1},
    {"64 Ki floats, queued", 64 << 10, 2},
    {"64 Ki floats, one caller", 64 << 10, 0},
    {"1 Mi floats, one caller", 1 << 20, 0},
    {"16 Mi floats, one caller", 16 << 20, 0},
};

struct Figures {
  double calls = 0;   // a second
  double bytes = 0;   // likewise, read and written
  double cpu_us = 0;  // of the process, callers included, a call
  double waits = 0;   // for locks, a call
  double waited_ns = 0;
};

double CpuSeconds() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// `call` again and again on so many threads for a while.
Figures Measure(int callers, double seconds, int64_t bytes_of_call,
                const std::function<void(int caller)>& call) {
  std::atomic<bool> over = false;
  std::atomic<int64_t> calls = 0;
  std::vector<std::thread> threads;
  const LockWaits before = LockWaitsSoFar();
  const double cpu_before = CpuSeconds();
  const absl::Time start = absl::Now();
  for (int i = 0; i < callers; ++i) {
    threads.emplace_back([&, i] {
      int64_t mine = 0;
      for (; !over; ++mine) call(i);
      calls += mine;
    });
  }
  absl::SleepFor(absl::Seconds(seconds));
  over = true;
  for (std::thread& thread : threads) thread.join();
  const double took = absl::ToDoubleSeconds(absl::Now() - start);
  const LockWaits after = LockWaitsSoFar();
  const auto count = static_cast<double>(std::max<int64_t>(calls, 1));
  return {.calls = count / took,
          .bytes = count * static_cast<double>(bytes_of_call) / took,
          .cpu_us = (CpuSeconds() - cpu_before) / count * 1e6,
          .waits = static_cast<double>(after.count - before.count) / count,
          .waited_ns = static_cast<double>((after.time - before.time).count()) / count};
}

// Three tensors come, one goes.
int64_t BytesOf(const Workload& load) { return 4 * load.elements * int64_t{sizeof(float)}; }
int Callers(const Workload& load, int threads) {
  return std::max(1, load.callers_per_thread * threads);
}

Figures Run(const Workload& load, int threads, double seconds) {
  EngineOptions options;
  options.devices = {DeviceSpec{.kind = "cpu", .threads = threads}};
  options.memory_limit_bytes = int64_t{4} << 30;
  const std::unique_ptr<Engine> engine = *Engine::Create(options);
  const std::vector<float> values(static_cast<size_t>(load.elements), 1.0f);
  const Fragments storage{std::as_bytes(std::span(values))};
  const TensorDesc desc = TensorDesc::Dense(DType::kFloat32, Dims{load.elements});
  NamedCall call;
  call.op = *FindOperator("SmoothL1LossBackward");
  call.inputs = {{"grad_out", desc, 0}, {"self", desc, 1}, {"target", desc, 2}};
  call.attributes = {{"reduction", int64_t{0}}, {"beta", 1.0}};
  const SharedPlan plan(*engine->MakePlan(call));
  return Measure(Callers(load, threads), seconds, BytesOf(load), [&](int caller) {
    const Waiter<bool> over;
    OneShot shot;
    shot.plan = plan;
    shot.storages.assign(3, storage);
    shot.client = ClientId{static_cast<uint64_t>(caller) + 1};
    shot.done = [over](const absl::StatusOr<Outputs>& outputs) { over.Set(outputs.ok()); };
    engine->Submit(std::move(shot));
    if (!over.Wait(absl::InfiniteFuture()).value_or(false)) std::abort();
  });
}

void Print(const Workload& load, int threads, const Figures& figures) {
  std::printf("| %s | %d | %.0f | %.2f | %.1f | %.3f | %.0f |\n", load.name, threads, figures.calls,
              figures.bytes / 1e9, figures.cpu_us, figures.waits, figures.waited_ns);
  std::fflush(stdout);
}

int Main(int argc, char** argv) {
  CLI::App app("Calls and bytes a second by the number of threads, as a table in Markdown");
  std::vector<int> threads = {1, 2, 4, 8, 16};
  double seconds = 2;
  app.add_option("--threads", threads, "Worker threads of the device, one row each")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--seconds", seconds, "How long each row takes")
      ->check(CLI::Range(0.1, 600.0))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  std::puts(
      "| calls | threads | calls/s | GB/s | processor µs a call | lock waits a call | ns in them a "
      "call |");
  std::puts("|---|---|---|---|---|---|---|");
  for (const Workload& load : kWorkloads)
    for (const int count : threads) Print(load, count, Run(load, count, seconds));
  return 0;
}

}  // namespace
}  // namespace opserve::bench

int main(int argc, char** argv) { return opserve::bench::Main(argc, argv); }
