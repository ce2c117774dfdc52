// What a session remembers of the commands that it sent, and of those that failed while nobody
// waited for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"

namespace opserve::client {

// A command whose answers tell nothing but a failure.
struct SentCommand {
  std::string meaning;  // for errors: "Upload"
  // Whose Synchronize tells of a failure that nothing waits for. 0, 0: nobody's.
  uint64_t stream = 0;
  uint64_t context = 0;
  bool is_over = false;  // it was answered, or is waited for: no other failure is to come
};

// The latest commands. Ids count from 1. Not thread-safe.
class SentCommands {
 public:
  uint64_t last() const { return last_; }
  // The id of the next one; `most` are remembered, within bounds.
  uint64_t Add(SentCommand command, int64_t most);
  // nullptr for one that was forgotten, or is none.
  const SentCommand* Find(uint64_t id) const;
  // Whether a failure of the command could be told, which it cannot any more: so of all that were
  // forgotten.
  bool EndsNow(uint64_t id);

 private:
  // The command's place; none for one that Find does not know.
  std::optional<size_t> PlaceOf(uint64_t id) const;

  uint64_t last_ = 0;
  std::deque<SentCommand> latest_;
};

// The first failure of each stream and context that is there, until it is taken. Not thread-safe.
class KeptFailures {
 public:
  void Made(uint64_t object) { objects_.insert(object); }
  // What was kept for a stream that is there no more is its context's.
  void Gone(uint64_t object);
  void Keep(const absl::Status& status, uint64_t stream, uint64_t context);
  // The first one of the stream or its context; forgets it. Stream 0: all of the context's.
  absl::Status Take(uint64_t stream, uint64_t context);

 private:
  struct Failure {
    absl::Status status;
    uint64_t stream = 0;
    uint64_t context = 0;
  };

  absl::flat_hash_set<uint64_t> objects_;  // that are there
  std::vector<Failure> failures_;
};

}  // namespace opserve::client
