// Which commands of a session may still be cancelled.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace opserve::server {

// Commands by id, without an allocation for each. The memory is that of about twice as many
// commands as there are. Not thread-safe.
class CommandsUnderWay {
 public:
  // `cancelled` must stay until Remove. Each id is greater than those before.
  void Add(uint64_t id, std::atomic<bool>& cancelled);
  void Remove(uint64_t id);
  // Sets the flag of the command; does nothing if the command is not there.
  void Cancel(uint64_t id);

 private:
  struct Entry {
    uint64_t id;
    std::atomic<bool>* cancelled;  // nullptr: it is over
  };

  // nullptr for one that is not there.
  Entry* Find(uint64_t id);
  void Compact();

  std::vector<Entry> entries_;  // ids ascend
  size_t over_ = 0;
};

}  // namespace opserve::server
