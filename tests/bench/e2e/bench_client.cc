// opserve-bench-client: loads one server in one way and reports how it did.
#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "core/base/status_macros.h"
#include "tests/bench/e2e/kernel_load.h"
#include "tests/bench/e2e/load.h"
#include "tests/bench/e2e/options.h"
#include "tests/bench/e2e/process_stats.h"
#include "tests/bench/e2e/report.h"
#include "tests/bench/e2e/shared_task.h"

namespace opserve::bench {
namespace {

constexpr int kWrong = 1;
constexpr int kHung = 3;
constexpr int kNoSuchMethod = 77;
constexpr absl::Duration kGrace = absl::Seconds(10);

// The client must not be what is slow: its large messages come from memory that stays mapped.
void KeepFreedMemory() {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the most that glibc takes
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

// Ends the program when a run outlasts all its deadlines.
class Watchdog {
 public:
  explicit Watchdog(absl::Time limit)
      : thread_([this, limit] {
          if (over_.WaitForNotificationWithTimeout(limit - absl::Now())) return;
          std::fprintf(stderr, "opserve-bench-client: still running after every deadline\n");
          _exit(kHung);
        }) {}
  ~Watchdog() {
    over_.Notify();
    thread_.join();
  }

 private:
  absl::Notification over_;
  std::thread thread_;
};

// What both processes used between two moments.
class CpuMeter {
 public:
  CpuMeter(int server_pid, absl::Time start, absl::Time end)
      : server_pid_(server_pid), thread_([this, start, end] {
          absl::SleepFor(start - absl::Now());
          const double server = ReadProcessStats(server_pid_).cpu_seconds;
          const double client = ReadProcessStats(getpid()).cpu_seconds;
          absl::SleepFor(end - absl::Now());
          server_seconds_ = ReadProcessStats(server_pid_).cpu_seconds - server;
          client_seconds_ = ReadProcessStats(getpid()).cpu_seconds - client;
        }) {}

  void Fill(RunFacts& facts) {
    thread_.join();
    facts.server_cpu_seconds = server_seconds_;
    facts.client_cpu_seconds = client_seconds_;
    facts.server_peak_rss_bytes = ReadProcessStats(server_pid_).peak_rss_bytes;
  }

 private:
  const int server_pid_;
  double server_seconds_ = 0;
  double client_seconds_ = 0;
  std::thread thread_;
};

Recorder::Layout LayoutOf(const ClientOptions& options, absl::Time now) {
  const absl::Time start = now + options.warm_up;
  Recorder::Layout layout{.start = start,
                          .end = start + options.duration,
                          .phase_ends = {},
                          .interval = options.interval};
  absl::Time end = start;
  for (const RatePhase& phase : options.phases) layout.phase_ends.push_back(end += phase.duration);
  return layout;
}

std::unique_ptr<StreamScript> MakeScript(const ClientOptions& options, const Workload& workload) {
  const auto make = [&]() -> std::unique_ptr<StreamScript> {
    switch (options.load) {
      case LoadKind::kUpload:
        return MakeUploadScript(options.transfer);
      case LoadKind::kDownload:
        return MakeDownloadScript(options.transfer);
      case LoadKind::kPassThrough:
        return MakePassThroughScript(options.transfer);
      default:
        return MakeExecuteScript(workload);
    }
  };
  return options.peer == Peer::kEcho ? MakeEchoScript(make()) : make();
}

// One run: connections, the load, what is told about it.
class Run {
 public:
  explicit Run(ClientOptions options) : options_(std::move(options)) {}

  absl::StatusOr<std::string> Report() {
    OPSERVE_ASSIGN_OR_RETURN(workload_, MakeWorkload(options_.workload, options_.elements));
    if (options_.load == LoadKind::kKernel) return RunKernel();
    for (int i = 0; i < options_.connections; ++i) {
      OPSERVE_ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection,
                               loadtest::Connect(options_.target, options_.timeout, -1));
      connections_.push_back(std::move(connection));
    }
    return IsUnary() ? RunUnary() : RunOnStreams();
  }

 private:
  bool IsUnary() const {
    return options_.load == LoadKind::kUnary || options_.load == LoadKind::kBatch ||
           options_.load == LoadKind::kShared;
  }

  absl::StatusOr<std::string> RunKernel() {
    return Measure(
        {.calls_per_message = 1,
         .input_bytes = workload_.input_bytes(),
         .output_bytes = workload_.output_bytes()},
        [&](absl::Time /*now*/, Recorder& recorder) { RunKernelLoop(workload_, recorder); });
  }

  absl::StatusOr<std::string> RunUnary() {
    UnaryTask task;
    std::optional<client::SharedMemory> memory;
    if (options_.load == LoadKind::kBatch) {
      FillBatchTask(workload_, options_.batch, options_.peer, task);
    } else if (options_.load == LoadKind::kShared) {
      OPSERVE_ASSIGN_OR_RETURN(memory, FillSharedTask(workload_, options_.target, task));
    } else {
      FillExecuteTask(workload_, options_.peer, task);
    }
    for (const std::unique_ptr<Connection>& connection : connections_)
      OPSERVE_RETURN_IF_ERROR(TryOnce(*connection, task, options_.timeout));
    return Measure({.calls_per_message = task.calls,
                    .input_bytes = task.input_bytes,
                    .output_bytes = task.output_bytes},
                   [&](absl::Time now, Recorder& recorder) {
                     if (options_.phases.empty()) {
                       RunClosedLoop(connections_, task, options_.in_flight, options_.timeout,
                                     recorder);
                     } else {
                       RunOpenLoop(connections_, task, OpenLoop(now), options_.timeout, recorder);
                     }
                   });
  }

  absl::StatusOr<std::string> RunOnStreams() {
    std::vector<std::unique_ptr<StreamScript>> scripts;
    scripts.reserve(static_cast<size_t>(options_.connections));
    for (int i = 0; i < options_.connections; ++i)
      scripts.push_back(MakeScript(options_, workload_));
    return Measure({.calls_per_message = 1,
                    .input_bytes = scripts[0]->input_bytes(),
                    .output_bytes = scripts[0]->output_bytes()},
                   [&](absl::Time /*now*/, Recorder& recorder) {
                     RunStreams(connections_, scripts, options_.peer, options_.in_flight,
                                options_.timeout, recorder);
                   });
  }

  OpenLoopOptions OpenLoop(absl::Time begin) const {
    OpenLoopOptions options{.begin = begin,
                            .phases = options_.phases,
                            .seed = options_.seed,
                            .threads = options_.threads,
                            .max_outstanding = options_.max_outstanding};
    options.phases.front().duration += options_.warm_up;
    return options;
  }

  template <typename Load>
  absl::StatusOr<std::string> Measure(RunFacts facts, Load load) {
    const absl::Time now = absl::Now();
    Recorder recorder(LayoutOf(options_, now));
    const Watchdog watchdog(recorder.layout().end + options_.timeout + kGrace);
    CpuMeter meter(options_.server_pid, recorder.layout().start, recorder.layout().end);
    load(now, recorder);
    meter.Fill(facts);
    OPSERVE_RETURN_IF_ERROR(recorder.fault());
    return MakeReport(recorder, facts);
  }

  const ClientOptions options_;
  Workload workload_;
  Connections connections_;
};

int WriteReport(const std::string& report, const std::string& path) {
  if (path.empty()) return std::puts(report.c_str()) >= 0 ? 0 : kWrong;
  std::ofstream file(path);
  file << report << "\n";
  file.close();
  if (file.good()) return 0;
  std::fprintf(stderr, "opserve-bench-client: --json: cannot write %s\n", path.c_str());
  return kWrong;
}

int Main(int argc, const char* const* argv) {
  std::variant<ClientOptions, EarlyExit> parsed = ParseClientOptions(argc, argv);
  if (const auto* exit = std::get_if<EarlyExit>(&parsed)) {
    std::fputs(exit->text.c_str(), exit->status == 0 ? stdout : stderr);
    return exit->status;
  }
  KeepFreedMemory();
  const ClientOptions& options = std::get<ClientOptions>(parsed);
  const absl::StatusOr<std::string> report = Run(options).Report();
  if (report.ok()) return WriteReport(*report, options.json);
  std::fprintf(stderr, "opserve-bench-client: %s\n", report.status().ToString().c_str());
  return absl::IsUnimplemented(report.status()) ? kNoSuchMethod : kWrong;
}

}  // namespace
}  // namespace opserve::bench

int main(int argc, char** argv) { return opserve::bench::Main(argc, argv); }
