// Protobuf's wire format over bytes that lie in pieces: what it takes to find a message's top-level
// fields and copy bulk bytes out once. Knows no messages.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/fragments.h"

namespace opserve::client {

// Reads forward through `fragments`, which must stay valid. After a function returned false the
// position is of no meaning.
class WireReader {
 public:
  enum class Type : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

  // A field's tag. Of kBytes, `length` bytes follow; they are not more than remaining().
  struct Field {
    uint64_t number = 0;
    Type type = Type::kVarint;
    size_t length = 0;
  };

  explicit WireReader(const Fragments& fragments)
      : fragments_(fragments), remaining_(fragments.size_bytes()) {}

  size_t remaining() const { return remaining_; }

  // The next tag, and the length behind it. False at malformed bytes, at groups, and at the end.
  bool ReadField(Field& field);
  // Passes what follows the tag.
  bool SkipField(const Field& field);
  bool ReadVarint(uint64_t& value);
  // Copies the next `count` bytes to `destination`. False when fewer remain.
  bool Read(std::byte* destination, size_t count);
  bool Skip(size_t count);
  // Appends the next `count` bytes to `pieces`, without a copy. False when fewer remain.
  bool Slice(size_t count, Fragments& pieces);

 private:
  // Calls take(piece) with the next `count` bytes, piece by piece.
  template <typename Take>
  bool Advance(size_t count, Take take);

  const Fragments& fragments_;
  size_t piece_ = 0;   // index of the piece that is read
  size_t offset_ = 0;  // in it
  size_t remaining_;
};

}  // namespace opserve::client
