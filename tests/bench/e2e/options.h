// The flags of opserve-bench-client.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "tests/bench/e2e/engine.h"
#include "tests/bench/e2e/stream_script.h"
#include "tests/bench/e2e/unary_task.h"

namespace opserve::bench {

enum class LoadKind {
  kUnary,
  kInfer,
  kBatch,
  kSession,
  kUpload,
  kDownload,
  kPassThrough,
  kShared,
  kClient,
  kBlocking,
  kKernel
};

struct ClientOptions {
  std::string target;
  Peer peer = Peer::kOpserve;
  LoadKind load = LoadKind::kUnary;
  std::string workload = "gradient";
  int64_t elements = 8;
  int64_t batch = 100;
  TransferSize transfer;
  int in_flight = 1;
  int connections = 1;
  std::vector<RatePhase> phases;  // none: a closed loop
  int threads = 1;
  int64_t max_outstanding = 0;
  uint64_t seed = 1;
  absl::Duration warm_up;
  absl::Duration duration;
  absl::Duration timeout;
  absl::Duration interval;
  int server_pid = 0;
  std::string json;  // where the report goes
};

struct EarlyExit {
  int status = 0;
  std::string text;
};

// Errors (status 2) name the flag, what came and what was wanted.
std::variant<ClientOptions, EarlyExit> ParseClientOptions(int argc, const char* const* argv);

}  // namespace opserve::bench
