#include "server/counters/server_counters.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <type_traits>

namespace opserve::server {
namespace {

constexpr size_t kNumShards = 16;
constexpr size_t kNumCounters = sizeof(ServerCounts) / sizeof(int64_t);

static_assert(std::is_standard_layout_v<ServerCounts> &&
              sizeof(ServerCounts) == kNumCounters * sizeof(int64_t));

constexpr std::array<std::string_view, kNumMethods> kMethodNames = {
    "GetServerInfo",   "ListOperators",      "ListDevices", "GetWorkspaceSize", "Execute",
    "ExecuteBatch",    "GetStatistics",      "ServerLive",  "ServerReady",      "ServerMetadata",
    "ModelReady",      "ModelMetadata",      "ModelConfig", "ModelInfer",       "ModelStatistics",
    "RepositoryIndex", "SystemSharedMemory", "Unsupported"};

}  // namespace

struct alignas(64) ServerCounters::Shard {
  std::array<std::atomic<int64_t>, kNumCounters> counters = {};
};

const ServerCounts ServerCounters::kLayout;

std::string_view MethodName(Method method) { return kMethodNames[static_cast<size_t>(method)]; }

ServerCounters::ServerCounters() : shards_(new Shard[kNumShards]) {}
ServerCounters::~ServerCounters() = default;

ServerCounters::Shard& ServerCounters::OwnShard() const {
  static std::atomic<size_t> threads = 0;
  static thread_local const size_t shard =
      threads.fetch_add(1, std::memory_order_relaxed) % kNumShards;
  return shards_[shard];
}

void ServerCounters::Add(const int64_t& field, int64_t count) {
  const std::ptrdiff_t offset_bytes =
      reinterpret_cast<const char*>(&field) - reinterpret_cast<const char*>(&kLayout);
  const size_t index = static_cast<size_t>(offset_bytes) / sizeof(int64_t);
  OwnShard().counters[index].fetch_add(count, std::memory_order_relaxed);
}

void ServerCounters::CallBegan(Method method) {
  Add(kLayout.methods[static_cast<size_t>(method)].begun, 1);
}

void ServerCounters::CallEnded(Method method, const Ended& ended) {
  const ServerCounts::OfMethod& counts = kLayout.methods[static_cast<size_t>(method)];
  const auto number = static_cast<size_t>(ended.code);
  const bool known = number < kNumStatusCodes;
  Add(counts.ended[known ? number : static_cast<size_t>(absl::StatusCode::kUnknown)], 1);
  Add(counts.request_bytes, static_cast<int64_t>(ended.request_bytes));
  if (ended.response_bytes > 0)
    Add(counts.response_bytes, static_cast<int64_t>(ended.response_bytes));
  Add(counts.took_ns, absl::ToInt64Nanoseconds(ended.took));
  Add(counts.took[DurationBucket(ended.took)], 1);
}

void ServerCounters::Failed(std::string_view what, ErrorReason reason, const absl::Status& status) {
  Add(kLayout.errors[static_cast<size_t>(reason)], 1);
  recent_errors_.Note(what, reason, status);
}

void ServerCounters::BatchEnded(size_t calls, size_t failed_calls) {
  Add(kLayout.batch_calls, static_cast<int64_t>(calls));
  const auto size = static_cast<size_t>(std::bit_width(std::max<size_t>(calls, 1) - 1));
  Add(kLayout.batch_sizes[std::min(size, kNumBatchSizes - 1)], 1);
  if (failed_calls > 0) Add(kLayout.batch_failed_calls, static_cast<int64_t>(failed_calls));
}

void ServerCounters::SessionOpened() { Add(kLayout.sessions_opened, 1); }
void ServerCounters::SessionClosed() { Add(kLayout.sessions_closed, 1); }
void ServerCounters::SessionRefused() { Add(kLayout.sessions_refused, 1); }

void ServerCounters::CommandsCame(size_t commands, size_t bytes) {
  Add(kLayout.session_commands, static_cast<int64_t>(commands));
  Add(kLayout.session_request_bytes, static_cast<int64_t>(bytes));
}

void ServerCounters::AnswersLeft(size_t answers, size_t bytes) {
  Add(kLayout.session_answers, static_cast<int64_t>(answers));
  Add(kLayout.session_response_bytes, static_cast<int64_t>(bytes));
}

void ServerCounters::CommandBegan() { Add(kLayout.session_commands_begun, 1); }
void ServerCounters::CommandEnded() { Add(kLayout.session_commands_ended, 1); }
void ServerCounters::CommandFailed(ErrorReason reason, const absl::Status& status) {
  Add(kLayout.session_failed_commands, 1);
  Failed("a command of Session", reason, status);
}

ServerCounts::Ended ServerCounts::ended() const {
  Ended ended = {session_commands, session_failed_commands};
  for (const OfMethod& method : methods) {
    const int64_t calls = std::accumulate(method.ended.begin(), method.ended.end(), int64_t{0});
    ended.calls += calls;
    ended.failed += calls - method.ended[0];  // OK
  }
  return ended;
}

ServerCounts ServerCounters::Sum() const {
  ServerCounts sum;
  auto* numbers = reinterpret_cast<int64_t*>(&sum);
  for (size_t shard = 0; shard < kNumShards; ++shard) {
    for (size_t i = 0; i < kNumCounters; ++i)
      numbers[i] += shards_[shard].counters[i].load(std::memory_order_relaxed);
  }
  return sum;
}

}  // namespace opserve::server
