// The objects and limits of one session. Only the thread that takes the session's commands uses it.
// Work that commands leave running keeps a reference to what it needs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/clock.h"
#include "core/base/fragments.h"
#include "core/device/context.h"
#include "core/device/event.h"
#include "core/device/memory_budget.h"
#include "core/device/memory_range.h"
#include "core/engine/engine.h"
#include "core/engine/executor.h"
#include "server/calls/plan_cache.h"
#include "server/session/chunked_call.h"
#include "server/session/flow.h"
#include "server/session/object_table.h"
#include "server/session/open_streams.h"
#include "server/session/session_limits.h"
#include "server/session/ticket.h"

namespace opserve::server {

// A command, and the raw entries that it names, from 0 on. `owner` keeps their bytes.
struct Command {
  v1::Command header;
  std::vector<Fragments> raw;
  std::shared_ptr<const void> owner;
  int64_t spare_bytes = 0;  // that `owner` keeps in addition to `raw`

  // The bytes that it takes while it waits.
  int64_t held_bytes() const;
};

// The newest ids that were inserted, at most kMax.
class RecentIds {
 public:
  bool contains(uint64_t id) const { return std::find(ids_.begin(), ids_.end(), id) != ids_.end(); }
  void insert(uint64_t id) {
    if (ids_.size() == kMax) ids_.pop_front();
    ids_.push_back(id);
  }

 private:
  static constexpr size_t kMax = 256;
  std::deque<uint64_t> ids_;
};

template <typename T>
struct Owned {
  uint64_t context = 0;
  std::shared_ptr<T> object;
  HostShare memory = {};  // in addition to what every handle takes
};

struct OwnedStream : Owned<Stream> {
  OpenStreams::Place place;
};

struct SessionState {
  SessionState(Engine& the_engine, PlanCache& the_plans, OpenStreams& the_open_streams,
               const Clock& the_clock, const SessionLimits& the_limits,
               std::shared_ptr<Flow> the_flow);

  // RESOURCE_EXHAUSTED naming `kind` if one more object would be too many.
  absl::Status CheckHandles(std::string_view kind);
  // Host memory for a plan that the session keeps. RESOURCE_EXHAUSTED naming `kind`.
  absl::StatusOr<HostShare> TakeMemoryFor(const Plan& plan, std::string_view kind);
  // Erases the context and all that it owns. 161002 if there is no such context.
  absl::Status EraseContext(uint64_t context);
  // Drops waiting work, and has running work stop.
  void Abandon();
  // And releases everything.
  void Clear();

  Engine& engine;
  PlanCache& plans;  // of inline calls
  OpenStreams& open_streams;
  const Clock& clock;
  const SessionLimits limits;
  const std::shared_ptr<Flow> flow;
  const std::shared_ptr<SessionMemory> memory;  // of the host
  const ClientId client;
  const std::shared_ptr<MemoryBudget> budget;  // of devices
  // Chunks on their way out: host memory, kept warm. `flow` bounds how much of it is in use.
  const std::shared_ptr<MemoryPool> staging;

  ObjectTable<std::shared_ptr<Context>> contexts{"context"};
  ObjectTable<OwnedStream> streams{"stream"};
  ObjectTable<Owned<Event>> events{"event"};
  ObjectTable<Owned<DeviceBuffer>> buffers{"buffer"};
  ObjectTable<Owned<Executor>> executors{"executor"};
  ObjectTable<std::shared_ptr<ChunkedCall>> chunked_calls{"command"};
  RecentIds failed_calls;  // chunked ones

 private:
  size_t paid_handles_ = 0;  // the most that existed at once; their host memory is charged
};

// A command and its ticket, as a handler gets them (handlers.h). `command` may be moved from. It
// lives until the handler returns.
struct Taken {
  std::shared_ptr<Ticket> ticket;
  Command& command;
};

// The raw entry of a command that has exactly one. 161002 naming `raw_index` for an index that does
// not exist, and naming `raw` if there are more entries.
absl::StatusOr<Fragments> RawEntry(const Command& command, uint32_t raw_index);

// A range that was checked to lie inside its buffer.
struct ResolvedRange {
  uint64_t context = 0;
  std::shared_ptr<DeviceBuffer> buffer;
  MemoryRange memory;
};

// `parameter` is the name of the range in errors. A range of one row with row_bytes 0 gets
// `default_row_bytes`.
absl::StatusOr<ResolvedRange> ResolveRange(SessionState& state, const v1::BufferRange& range,
                                           std::string_view parameter,
                                           int64_t default_row_bytes = 0);

// 161002 naming `parameter` when an object of `context` is used with a stream of `stream_context`.
absl::Status CheckSameContext(uint64_t context, uint64_t stream_context,
                              std::string_view parameter);

// `chunk_bytes` of a command, 0 being the recommended size. 161002 for one that is out of range.
absl::StatusOr<int64_t> ResolveChunkBytes(const SessionLimits& limits, int64_t chunk_bytes);

}  // namespace opserve::server
