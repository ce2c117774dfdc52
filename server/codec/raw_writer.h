// Messages that carry bulk bytes, put together by hand: byte for byte what the generated code
// writes, but large raw entries are not copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/device/memory_pool.h"
#include "server/codec/wire_format.h"

namespace opserve::server {

// Up to here an entry is copied into its message: that costs less than a piece of its own.
inline constexpr size_t kCopiedBytes = 2048;

// A message in the pieces that follow each other.
struct WrittenMessage {
  // A raw entry that was not copied, and what is behind it.
  struct Entry {
    PooledBuffer bytes;
    std::string after;
  };

  std::string begin;
  std::vector<Entry> entries;
};

// The raw entries of a message that is being put together.
class RawWriter {
 public:
  explicit RawWriter(uint32_t raw_field) : tag_(BytesTag(raw_field)) {}

  // Large ones are not copied: the message owns their leases.
  void Add(PooledBuffer entry);
  void AddCopy(std::span<const std::byte> entry);
  // How many were added.
  uint32_t entries() const { return entries_; }

  // The message that begins with `header`, then has the entries.
  WrittenMessage WriteAfter(std::string header) &&;

 private:
  // Where the next bytes go.
  std::string& end() {
    return message_.entries.empty() ? message_.begin : message_.entries.back().after;
  }

  const uint32_t tag_;
  uint32_t entries_ = 0;
  WrittenMessage message_;
};

}  // namespace opserve::server
