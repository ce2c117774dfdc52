// Transfers that wait for no stream of the program, and that all of its streams wait for.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include <opserve/session.h>

#include "absl/status/status.h"
#include "client/acl/provider/provider.h"
#include "client/acl/remote/server_session.h"

namespace opserve::acl {

// Writes `from` on the stream. A little is copied first, so that nobody waits for the transport
// unless that is far behind. `lent` counts what stays with its owner; without it, this waits until
// `from` is no longer read.
absl::Status SendBytes(ServerSession& session, client::Stream& stream, const MemoryView& to,
                       std::span<const std::byte> from, const std::shared_ptr<LentMemory>& lent);

// Those of one device, on a stream of their own: nothing but a download waits for the server. They
// come before whatever is put on a stream later, as that waits for an event behind them.
// Thread-safe.
class Transfers {
 public:
  Transfers(ServerSession& session, client::Stream stream, client::Event end)
      : session_(session), stream_(std::move(stream)), end_(std::move(end)) {}

  absl::Status Upload(const MemoryView& to, std::span<const std::byte> from);
  absl::Status Download(const MemoryView& from, std::span<std::byte> to);
  absl::Status Copy(const MemoryView& from, const MemoryView& to, int64_t bytes);
  absl::Status Fill(const MemoryView& to, std::byte value, int64_t bytes);

  // What comes on `stream` later waits for all transfers until now. `joined` is the stream's, 0 at
  // first: how many it waits for already. Whether that put anything on the stream.
  bool JoinBefore(client::Stream& stream, std::atomic<uint64_t>& joined) const;

  // The first failure that nobody was told of. Known when work that waits for the transfer has
  // ended.
  absl::Status TakeFailure() { return stream_.TakeFailure(); }

 private:
  absl::Status Published(absl::Status sent);

  ServerSession& session_;
  client::Stream stream_;
  const client::Event end_;
  std::atomic<uint64_t> count_{0};
};

}  // namespace opserve::acl
