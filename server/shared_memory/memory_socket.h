// The unix socket on which clients ask for shared memory (proto/opserve/v1/shared_memory.proto).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/types.h>

#include "absl/status/statusor.h"
#include "core/base/unique_fd.h"
#include "server/shared_memory/region_owner.h"
#include "server/shared_memory/region_table.h"

namespace opserve::server {

// Clients at one time.
inline constexpr size_t kMaxMemoryClients = 256;

// Serves on a thread of its own, which no client can block: a client that does not take its answers
// is cut, packets come whole, and nothing waits for the rest of anything.
class MemorySocket {
 public:
  // Binds `path`, where no file may be, and gives it `mode`. 161002 naming --allow-shared-memory
  // where that fails; throws ThreadError where there is no thread for it. `table` must outlive it.
  static absl::StatusOr<std::unique_ptr<MemorySocket>> Listen(const std::string& path, mode_t mode,
                                                              RegionTable& table);
  // Ends all connections. What clients have mapped stays theirs. Removes the socket.
  ~MemorySocket();
  MemorySocket(const MemorySocket&) = delete;
  MemorySocket& operator=(const MemorySocket&) = delete;

 private:
  struct Client {
    Client(UniqueFd socket, RegionTable& table) : fd(std::move(socket)), owner(table) {}
    UniqueFd fd;
    RegionOwner owner;
  };

  MemorySocket(const std::string& path, RegionTable& table);
  absl::Status Bind(mode_t mode);
  void Serve();
  // What to wait for: the end, the listener, the clients.
  std::vector<pollfd> Waited() const;
  void Accept();
  // False when the connection is over.
  bool Answer(Client& client);

  const std::string path_;
  RegionTable& table_;
  UniqueFd listener_;
  UniqueFd stop_;  // an eventfd
  bool is_bound_ = false;
  bool is_full_ = false;  // the process has no descriptor left: no more connections for a moment
  std::vector<std::unique_ptr<Client>> clients_;  // of the thread
  std::thread thread_;
};

}  // namespace opserve::server
