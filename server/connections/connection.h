// One client's connection, beside gRPC: what came over it, and the means to cut it.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

#include "absl/time/time.h"
#include "core/base/client_id.h"
#include "core/base/unique_fd.h"
#include "server/connections/peer_address.h"

namespace opserve::server {

// Thread-safe.
class Connection {
 public:
  // `socket` is another descriptor of the connection's socket. Closing it closes nothing.
  Connection(UniqueFd socket, const PeerAddress& peer, absl::Time now);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int socket() const { return socket_.get(); }
  const PeerAddress& peer() const { return peer_; }
  ClientId client() const { return client_; }
  // Whose it is, of this machine's users (PeerUser); found out when it is first asked.
  std::optional<uid_t> user() const;
  absl::Time opened() const { return opened_; }

  // Messages of so many bytes came whole.
  void NoteMessages(int64_t bytes) { message_bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  int64_t message_bytes() const { return message_bytes_.load(std::memory_order_relaxed); }
  bool has_messages() const { return message_bytes() > 0; }

  // Bytes that came, as the kernel counts them; 0 for a unix socket.
  int64_t received_bytes() const;

  // About how many bytes of messages came that are not whole yet, and lie in gRPC's buffers.
  int64_t unfinished_bytes() const;
  // To be called about once a second: what frames and headers add to messages is learnt from it.
  void Settle();

  // Its client closed it, or it was cut: gRPC may take a while to notice.
  void NoteOver() { is_over_.store(true, std::memory_order_relaxed); }
  bool is_over() const { return is_over_.load(std::memory_order_relaxed); }

  // Ends the connection for both sides, and throws away what gRPC has not read; gRPC notices at
  // once. False when it was cut before.
  bool Cut() const;

 private:
  const UniqueFd socket_;
  const PeerAddress peer_;
  const ClientId client_;
  const absl::Time opened_;
  mutable std::once_flag user_asked_;
  mutable std::optional<uid_t> user_;
  std::atomic<int64_t> message_bytes_ = 0;
  std::atomic<int64_t> overhead_bytes_ = 0;
  std::atomic<bool> is_over_ = false;
  mutable std::atomic<bool> is_cut_ = false;
};

}  // namespace opserve::server
