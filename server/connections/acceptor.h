// Accepts connections, within limits, and hands them to gRPC. It is done here and not by gRPC as
// gRPC 1.51 has no bound on connections, and never accepts again once it was out of descriptors.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/unique_fd.h"
#include "server/connections/connection_table.h"
#include "server/connections/listener.h"

namespace opserve::server {

// Two threads. The acceptor's, which no client can block, accepts, watches and ticks. The other one
// hands connections over, one after the other: gRPC reads there and then what has come by them, and
// goes on for as long as more comes. Those of crowded clients wait for each other: a hundred at
// once would keep gRPC's threads from everybody else.
class Acceptor {
 public:
  // A connection on its way to gRPC.
  struct Arrival {
    int listener = -1;  // its descriptor
    int socket = -1;    // the connection's, which is the callee's
    bool speaks_tls = false;
  };

  struct Options {
    // Of a connection that is about to be handed over. On the acceptor's thread.
    std::function<void(const std::shared_ptr<Connection>& connection)> on_accepted;
    std::function<void(const Arrival& arrival)> hand_over;
    // When that is done and no other connection was handed over since. On the acceptor's thread.
    std::function<void(const std::shared_ptr<Connection>& connection)> on_handed_over;
    // No connection will ever come by a listener again, for the reason said. Once.
    std::function<void(std::string_view reason)> on_dead_listener;
    // Whether a client has many answers to take. Its next connections are handed over one in
    // kCrowdedPace then. Any thread.
    std::function<bool(ClientId client)> is_crowded;
    // Called about every kTick.
    std::function<void()> on_tick;
    // After which the kernel gives a connection up whose peer acknowledges nothing; 0 = its own
    // time.
    absl::Duration unacknowledged_timeout;
    // A connection that its client left has its place for at most so long: gRPC overlooks some that
    // are reset until it next pings them.
    absl::Duration most_ended_time = absl::Seconds(5);
  };

  static constexpr absl::Duration kTick = absl::Milliseconds(10);
  static constexpr absl::Duration kCrowdedPace = absl::Milliseconds(100);

  // The table must outlive it. 161002 naming --listen where the system has no more descriptors;
  // throws ThreadError where it has no thread.
  static absl::StatusOr<std::unique_ptr<Acceptor>> Start(std::vector<Listener> listeners,
                                                         ConnectionTable& table, Options options);
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  // Accepts no more and closes the listeners; what was handed over is watched until the end of this
  // object. Connections that wait to be handed over are closed, the one that is being handed over
  // is cut. Returns when the thread that hands over has stopped. Once.
  void StopAccepting();

 private:
  struct Accepted {
    std::shared_ptr<Connection> connection;
    int grpc_socket = -1;  // gRPC's descriptor of its socket, as long as gRPC has it open
    absl::Time ended = absl::InfiniteFuture();
  };
  struct Waiting {
    int listener = -1;
    bool speaks_tls = false;
    UniqueFd socket;
    std::shared_ptr<Connection> connection;
  };

  Acceptor(std::vector<Listener> listeners, ConnectionTable& table, Options options);
  absl::Status Prepare();
  absl::Status Watch(int fd, uint32_t events, uint64_t tag) const;
  void Serve();
  void Handle(uint64_t tag, uint32_t events);
  // All that wait, up to a bound.
  void AcceptFrom(size_t index);
  void Refuse(const Listener& listener, const PeerAddress& peer, int socket,
              const absl::Status& status);
  // False when the socket cannot be watched. Its place is taken.
  bool TakeIn(const Listener& listener, UniqueFd socket, const PeerAddress& peer);
  // The thread that hands over.
  void HandOver();
  // The next to hand over; nullopt at the end.
  std::optional<Waiting> NextWaiting();
  // Of those that wait; nullopt when none may be handed over now.
  std::optional<Waiting> TakeWaiting() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool MayHandOver(ClientId client, absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ends connections that wait and whose clients are not served any more.
  void DropBarred();
  void NoteHandedOver();
  // Closes the connections that wait, cuts the one in hand, and returns when that was handed over.
  void StopHandingOver();
  // The connection is over for its peer or for us; gRPC may still work on what came by it.
  void End(uint64_t tag);
  // Gives back the places of those that gRPC is done with.
  void ForgetEnded();
  // RESOURCE_EXHAUSTED for a client that opens and leaves connections faster than gRPC ends them.
  absl::Status CheckEnded(ClientId client);
  // Accepts one with the last descriptor, and closes it.
  void RefuseForWantOfDescriptors(const Listener& listener);
  void Pause(size_t index);
  void Resume();
  void CloseListeners();
  void Die(std::string_view reason);

  ConnectionTable& table_;
  const Options options_;
  std::vector<Listener> listeners_;
  UniqueFd epoll_;
  UniqueFd wake_;               // an eventfd
  UniqueFd reserve_;            // given up to refuse a connection when there is no other
  std::vector<size_t> paused_;  // listeners that are looked at again after a tick
  absl::flat_hash_map<uint64_t, Accepted> connections_;  // by their tags
  std::vector<Accepted> ended_;
  uint64_t next_tag_ = 0;
  LimitedLog log_;
  std::atomic<bool> stop_accepting_ = false;
  std::atomic<bool> stop_ = false;
  Mutex mutex_;
  CondVar changed_;
  bool listeners_closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool hands_over_ ABSL_GUARDED_BY(mutex_) = true;
  std::deque<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  // Until when the connections of crowded clients wait, as one was handed over.
  absl::flat_hash_map<ClientId, absl::Time> paced_ ABSL_GUARDED_BY(mutex_);
  // From when it is taken out of `waiting_` until it was noted.
  std::shared_ptr<Connection> in_hand_ ABSL_GUARDED_BY(mutex_);
  bool was_handed_over_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
  std::thread hand_over_thread_;
};

}  // namespace opserve::server
