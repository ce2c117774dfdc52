// opserve-bench-client: loads one server in one way and reports how it did.
#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "core/base/status_macros.h"
#include "tests/bench/e2e/lanes.h"
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

// One run: lanes, the load, what is told about it.
class Run {
 public:
  explicit Run(ClientOptions options) : options_(std::move(options)) {}

  absl::StatusOr<std::string> Report() {
    OPSERVE_ASSIGN_OR_RETURN(workload_, MakeWorkload(options_.workload, options_.elements));
    OPSERVE_ASSIGN_OR_RETURN(const Lanes lanes, MakeLanes());
    loadtest::Mix mix({{.timeout = options_.timeout, .calls = CallsOfMessage()}}, options_.seed);
    const std::atomic<bool> stop = false;
    const absl::Time start = absl::Now() + options_.warm_up;
    const absl::Time end = start + options_.duration;
    const Watchdog watchdog(end + options_.timeout + kGrace);
    CpuMeter meter(options_.server_pid, start, end);
    Measurement measurement = loadtest::Measure(
        lanes, mix, LevelOf(), MeasureOptionsOf(),
        [](const loadtest::Level&, const loadtest::Window&) {}, stop);
    RunFacts facts;
    meter.Fill(facts);
    return MakeReport(measurement, facts);
  }

 private:
  bool IsUnary() const {
    return options_.load == LoadKind::kUnary || options_.load == LoadKind::kInfer ||
           options_.load == LoadKind::kBatch || options_.load == LoadKind::kShared;
  }
  bool IsClient() const {
    return options_.load == LoadKind::kClient || options_.load == LoadKind::kBlocking;
  }
  int64_t CallsOfMessage() const { return options_.load == LoadKind::kBatch ? options_.batch : 1; }

  absl::StatusOr<Lanes> MakeLanes() {
    Lanes lanes;
    if (options_.load == LoadKind::kKernel) {
      OPSERVE_ASSIGN_OR_RETURN(std::unique_ptr<Lane> lane, MakeKernelLane(workload_));
      lanes.push_back(std::move(lane));
      return lanes;
    }
    if (IsClient()) return MakeClientLanes();
    if (IsUnary()) OPSERVE_RETURN_IF_ERROR(FillTask());
    const absl::Duration lifetime = options_.warm_up + options_.duration + options_.timeout;
    for (int i = 0; i < options_.connections; ++i) {
      OPSERVE_ASSIGN_OR_RETURN(
          std::unique_ptr<Connection> connection,
          loadtest::Connect(options_.target, options_.timeout, {.max_answer_bytes = -1}));
      if (IsUnary()) OPSERVE_RETURN_IF_ERROR(TryOnce(*connection, task_, options_.timeout));
      lanes.push_back(IsUnary()
                          ? MakeTaskLane(std::move(connection), task_)
                          : MakeScriptLane(std::move(connection), MakeScript(options_, workload_),
                                           options_.peer, lifetime));
    }
    return lanes;
  }

  absl::StatusOr<Lanes> MakeClientLanes() {
    const int threads = options_.load == LoadKind::kBlocking ? options_.in_flight : 0;
    Lanes lanes;
    for (int i = 0; i < options_.connections; ++i) {
      OPSERVE_ASSIGN_OR_RETURN(std::unique_ptr<Lane> lane,
                               MakeClientLane(options_.target, workload_, threads));
      lanes.push_back(std::move(lane));
    }
    return lanes;
  }

  absl::Status FillTask() {
    if (options_.load == LoadKind::kBatch) {
      FillBatchTask(workload_, options_.batch, options_.peer, task_);
    } else if (options_.load == LoadKind::kInfer) {
      FillInferTask(workload_, task_);
    } else if (options_.load == LoadKind::kShared) {
      OPSERVE_ASSIGN_OR_RETURN(memory_, FillSharedTask(workload_, options_.target, task_));
    } else {
      FillExecuteTask(workload_, options_.peer, task_);
    }
    return absl::OkStatus();
  }

  loadtest::Level LevelOf() const {
    // With streams so many are under way on each.
    const int lanes =
        IsUnary() || IsClient() || options_.load == LoadKind::kKernel ? 1 : options_.connections;
    loadtest::Level level{.name = "load", .in_flight = options_.in_flight * lanes};
    if (options_.phases.empty()) return level;
    level.open = loadtest::OpenLoop{.phases = options_.phases,
                                    .seed = options_.seed,
                                    .threads = options_.threads,
                                    .max_outstanding = options_.max_outstanding};
    level.open->phases.front().duration += options_.warm_up;
    return level;
  }

  loadtest::MeasureOptions MeasureOptionsOf() const {
    const bool has_intervals = options_.interval > absl::ZeroDuration();
    return {.warm_up = options_.warm_up,
            .duration = options_.duration,
            .window = has_intervals ? options_.interval : options_.duration};
  }

  const ClientOptions options_;
  Workload workload_;
  UnaryTask task_;
  std::optional<client::SharedMemory> memory_;
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
