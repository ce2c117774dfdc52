// A call as a command of a session, ready to be put into messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/time/time.h"
#include "client/cpp/wire/call_messages.h"
#include "client/loadtest/calls/work.h"
#include "opserve/v1/types.pb.h"

namespace opserve::loadtest {

// Not thread-safe. `work` outlives it.
class SessionWork {
 public:
  explicit SessionWork(const Work& work);

  // Appends the command `id`, whose entries begin at `first` in its message.
  void AppendCommand(uint64_t id, uint32_t first, absl::Duration timeout, std::string& message);
  // Appends the entries; of one that is large, the message has them as they lie.
  void AppendRaw(std::string& message) const { message.append(raw_bytes_); }
  const std::vector<std::string_view>& large_raw() const { return large_raw_; }

  // It is sent by itself, as its bytes are not to be copied.
  bool is_large() const { return !large_raw_.empty(); }
  uint32_t entries() const { return entries_; }
  int64_t request_bytes() const { return request_bytes_; }

 private:
  // The command without its id and its time-out.
  const std::string& CommandFrom(uint32_t first);

  v1::Call call_;
  std::vector<client::RawEntry> raw_;
  std::vector<std::string> tags_;
  std::vector<std::string_view> large_raw_;
  std::string raw_bytes_;
  uint32_t entries_ = 0;
  int64_t request_bytes_ = 0;
  std::unordered_map<uint32_t, std::string> commands_;  // by their first entry
};

}  // namespace opserve::loadtest
