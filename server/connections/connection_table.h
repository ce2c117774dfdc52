// All connections there are: how many there may be, and which one a call came by.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "core/base/shared_limit.h"
#include "server/connections/connection.h"
#include "server/log/log.h"

namespace opserve::server {

// Calls that a client takes back before they are answered, or leaves with their connection: some
// are normal, thousands a second are an attack.
struct ResetLimit {
  double per_second = 100;
  double burst = 1000;
  // Of calls without a message, which client libraries do not make.
  double empty_burst = 200;
};

struct ConnectionLimits {
  int64_t max_connections = 1024;
  // Of one peer (an IPv4 address, the first 64 bits of an IPv6 address, or all unix sockets). 0:
  // its share of all (SharedLimit).
  int64_t max_of_peer = 0;
  double client_share = 1;
  ResetLimit resets;
  // A connection that has brought more than this before its first whole message is cut.
  int64_t max_first_message_bytes = int64_t{256} << 20;
};

// Thread-safe.
class ConnectionTable {
 public:
  using Connections = std::vector<std::shared_ptr<Connection>>;
  // For what no client does by accident.
  static constexpr absl::Duration kFloodBar = absl::Seconds(10);

  // `clock` must outlive it.
  ConnectionTable(const ConnectionLimits& limits, const Clock& clock)
      : limits_(limits), clock_(clock), places_(limits.max_connections, limits.client_share) {}

  // Takes a place for a connection from there. RESOURCE_EXHAUSTED naming the flag.
  absl::Status Reserve(const PeerAddress& peer);
  // Whether none of the client's are taken now.
  bool IsBarred(ClientId client) const;
  // Whether connections by unix sockets are to wait, as one was cut a moment ago.
  bool UnixWaits() const;
  // Gives back a place that no connection got.
  void Unreserve(const PeerAddress& peer);
  // A connection that has a place. `socket` as Connection's.
  std::shared_ptr<Connection> Add(UniqueFd socket, const PeerAddress& peer);
  // It is over; its place is free.
  void Remove(const std::shared_ptr<Connection>& connection);

  // ---- for calls; `peer` is what gRPC calls it ----

  // Calls were taken back. When those of the client were too many cuts the connection, and takes
  // none of the client's for a second; for twice as long each time it happens again soon.
  void NoteResets(const Connection& connection, int64_t resets) const;
  // The same for calls that came without a message.
  void NoteEmptyCalls(const Connection& connection, int64_t calls) const;
  // nullptr when there is none any more, or no telling.
  std::shared_ptr<Connection> Find(std::string_view peer) const;
  // Which of this machine's users calls. Connections by unix sockets cannot be told apart: theirs
  // is the one user that has ever made any, root aside; nullopt when there were several.
  std::optional<uid_t> UserOf(std::string_view peer) const;

  // ---- for who keeps watch ----

  Connections All() const;
  // Now and then, about once a second: cuts those that bring what is no message.
  void Settle() const;

  int64_t size() const;
  int64_t refused() const { return refused_.load(std::memory_order_relaxed); }
  int64_t cut() const { return cut_.load(std::memory_order_relaxed); }
  // Cuts it, and takes none of its client's for so long; for twice as long when that happens again
  // soon. Clients of unix sockets cannot be told apart: all of them wait, for kUnixBar.
  void Expel(const Connection& connection, std::string_view reason, absl::Duration bar) const;
  // Cuts it and says so in the log.
  void Cut(const Connection& connection, std::string_view reason) const;

 private:
  // How many more calls may be taken back, or come without a message.
  struct Allowances {
    double resets;
    double empty_calls;
    absl::Time counted;  // when they were reckoned last
  };
  // Of a client that took calls back lately.
  struct Conduct {
    Allowances allowances;
    // Until when its connections are not taken.
    absl::Time barred_until = absl::InfinitePast();
    absl::Duration bar = absl::ZeroDuration();  // the last one's length
  };
  Conduct& ConductOf(ClientId client, absl::Time now) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // What a client has that did nothing wrong lately.
  Allowances Full(absl::Time now) const;
  // Of the client, or of a unix socket's connection, as of now.
  Allowances& AllowancesOf(const Connection& connection) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes `calls` off one of the allowances; cuts the connection when that has too few left.
  void Count(const Connection& connection, int64_t calls, double Allowances::*allowance) const;
  void BarClient(ClientId client, absl::Duration least, absl::Duration longest) const;

  const ConnectionLimits limits_;
  const Clock& clock_;
  std::atomic<int64_t> refused_ = 0;
  mutable std::atomic<int64_t> cut_ = 0;
  mutable LimitedLog log_;
  mutable Mutex mutex_;
  SharedLimit places_ ABSL_GUARDED_BY(mutex_);
  mutable absl::flat_hash_map<ClientId, Conduct> conducts_ ABSL_GUARDED_BY(mutex_);
  mutable absl::flat_hash_map<const Connection*, Allowances> unix_allowances_
      ABSL_GUARDED_BY(mutex_);
  // Of IP addresses, and those that cannot be told apart.
  absl::flat_hash_map<PeerAddress, std::shared_ptr<Connection>> by_peer_ ABSL_GUARDED_BY(mutex_);
  Connections others_ ABSL_GUARDED_BY(mutex_);
  // Users that have connected by unix sockets; nullopt: one that could not be found out. At most
  // three.
  absl::flat_hash_set<std::optional<uid_t>> unix_users_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace opserve::server
