// Reads a serialized message field by field where it lies. CodedInputStream takes three times as
// long, and each of hundreds of calls has a dozen fields.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "server/codec/wire_format.h"

namespace opserve::server {

// One message in consecutive pieces of any length (0 too), cut at any byte.
using MessagePieces = std::span<const std::span<const std::byte>>;

// Places count from the message's begin.
struct Field {
  uint32_t tag = 0;
  size_t body = 0;     // where what follows the tag begins
  size_t payload = 0;  // likewise, without the length
  size_t end = 0;
  uint64_t number = 0;  // of a varint; of a field with a length, that
};

// A place in the message, before a byte or at the end; a value.
class FieldReader {
 public:
  // Why there is no next field.
  enum class Fault : uint8_t { kNone, kTag, kVarint, kLength, kOutside, kWireType };

  explicit FieldReader(std::string_view message)
      : at_(message.data()), end_(at_ + message.size()), size_(message.size()) {}
  explicit FieldReader(MessagePieces pieces) : more_(pieces) {
    for (const std::span<const std::byte> piece : pieces) size_ += piece.size();
    behind_ = size_;
  }

  bool at_end() const { return left() == 0; }
  size_t left() const { return behind_ + static_cast<size_t>(end_ - at_); }
  size_t position() const { return size_ - left(); }
  std::string_view rest_of_piece() const { return {at_, static_cast<size_t>(end_ - at_)}; }

  // Reads the next field and moves behind it. False at the end, and where the bytes are not a
  // field: then `field` has what could be read, and its body begins at the byte that is wrong.
  bool Next(Field& field) {
    if (at_end()) return false;
    field.body = position();
    uint64_t tag = 0;
    if (!ReadVarint(tag, kMaxVarint32Bytes) || tag > std::numeric_limits<uint32_t>::max() ||
        tag >> 3 == 0)
      return Fail(Fault::kTag);
    field.tag = static_cast<uint32_t>(tag);
    field.body = field.payload = position();
    if (!SkipValue(field)) return false;
    field.end = position();
    return true;
  }
  Fault fault() const { return fault_; }

  // False when the message ends inside it or it has more than `max_bytes`.
  bool ReadVarint(uint64_t& value, int max_bytes = kMaxVarintBytes) {
    value = 0;
    for (int shift = 0; shift < 7 * max_bytes && !at_end(); shift += 7) {
      while (at_ == end_) NextPiece();
      const auto byte = static_cast<uint8_t>(*at_++);
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  // Moves over `count` bytes, which there must be, and shows them piece by piece.
  template <typename Visitor>
  void Take(size_t count, Visitor visit) {
    for (;; NextPiece()) {
      const size_t here = std::min(count, static_cast<size_t>(end_ - at_));
      visit(rest_of_piece().substr(0, here));
      at_ += here;
      count -= here;
      if (count == 0) return;
    }
  }
  void Skip(size_t count) {
    Take(count, [](std::string_view) {});
  }

 private:
  bool SkipValue(Field& field) {
    switch (field.tag & 7) {
      case kVarint:
        return ReadVarint(field.number) || Fail(Fault::kVarint);
      case kFixed32:
        return SkipBytes(sizeof(uint32_t));
      case kFixed64:
        return SkipBytes(sizeof(uint64_t));
      case kLengthDelimited:
        if (!ReadVarint(field.number, kMaxVarint32Bytes)) return Fail(Fault::kLength);
        field.payload = position();
        return SkipBytes(field.number);
      default:
        return Fail(Fault::kWireType);
    }
  }

  bool SkipBytes(uint64_t count) {
    if (count > left()) return Fail(Fault::kOutside);
    Skip(count);
    return true;
  }

  bool Fail(Fault fault) {
    fault_ = fault;
    return false;
  }

  void NextPiece() {
    at_ = reinterpret_cast<const char*>(more_.front().data());
    end_ = at_ + more_.front().size();
    behind_ -= more_.front().size();
    more_ = more_.subspan(1);
  }

  const char* at_ = nullptr;  // in the piece that goes up to end_
  const char* end_ = nullptr;
  size_t size_ = 0;
  size_t behind_ = 0;   // bytes of more_
  MessagePieces more_;  // after the piece
  Fault fault_ = Fault::kNone;
};

}  // namespace opserve::server
