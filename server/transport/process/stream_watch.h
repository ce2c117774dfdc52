// Connections that open streams and bring no messages on them: calls that are taken back at once,
// or whose methods nobody has; and those that bring frames of no call. gRPC ends these without
// asking anybody, and they cost it much.
#pragma once

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "server/connections/connection_table.h"

namespace opserve::server {

// Counts them by gRPC's channelz, which knows of each socket how many streams and messages came,
// and tells the table. Not thread-safe.
class StreamWatch {
 public:
  // So many streams of a connection are open at a time: their messages may all be on their way. The
  // table must outlive it.
  StreamWatch(const ConnectionTable& connections, int64_t streams_of_connection)
      : connections_(connections), streams_of_connection_(streams_of_connection) {}

  // On the thread that calls Check: of an IP address before gRPC has it; of a unix socket when gRPC
  // has it and no other since.
  void NoteNew(const std::shared_ptr<Connection>& connection);

  // To be called every 10 to 100 ms. Looks only at connections that bring, or brought a moment ago,
  // more than their messages; and at those of unix sockets, of which that cannot be told, while the
  // process `is_busy`.
  void Check(absl::Time now, bool is_busy);

 private:
  // What was known of a connection when it was looked at last.
  struct Known {
    std::weak_ptr<Connection> connection;  // so that no other has its address
    int64_t socket_id = 0;                 // channelz's name for it; 0: not known
    int64_t other_bytes = 0;               // that came, and are of no message
    int64_t idle_bytes = 0;                // of those, what had come when a stream was seen last
    int64_t streams = 0;                   // that were opened
    int64_t empty_streams = 0;  // without a message, the most that were allowed or counted
    int looks_left = 0;         // it is looked at for so long after it brought too much
    int clean_looks = 0;        // in a row, that found nothing
    int rests_left = 0;         // so many looks are left out
    bool is_there = true;
  };

  // Of a unix socket, whose bytes the kernel does not count.
  bool MayBringMore(const Connection& connection, Known& known) const;
  // Whether it brought more than messages within `time`, or lately.
  static bool BroughtMore(const Connection& connection, absl::Duration time, Known& known);
  // Asks channelz for the sockets that it has had since it was asked last, and names connections of
  // IP addresses by them. The others are new_unix_sockets_.
  void LearnNames();
  void Judge(const std::vector<const Connection*>& suspects);
  void Judge(const Connection& connection, Known& known);

  const ConnectionTable& connections_;
  const int64_t streams_of_connection_;
  absl::flat_hash_map<const Connection*, Known> known_;
  // Of IP addresses, and without a name yet. Asking for names takes time: it is done when one is
  // wanted.
  absl::flat_hash_map<PeerAddress, const Connection*> nameless_;
  std::vector<int64_t> new_unix_sockets_;  // since the last unix socket was new
  absl::Time last_check_ = absl::InfinitePast();
  int64_t checks_ = 0;
  intptr_t next_socket_ = 0;  // channelz counts up
};

}  // namespace opserve::server
