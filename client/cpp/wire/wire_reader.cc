#include "client/cpp/wire/wire_reader.h"

#include <algorithm>
#include <cstring>

namespace opserve::client {

template <typename Take>
bool WireReader::Advance(size_t count, Take take) {
  if (count > remaining_) return false;
  remaining_ -= count;
  while (count > 0) {
    const std::span<const std::byte> piece = fragments_.pieces()[piece_].subspan(offset_);
    const size_t taken = std::min(count, piece.size());
    take(piece.first(taken));
    count -= taken;
    offset_ += taken;
    if (taken == piece.size()) {
      ++piece_;
      offset_ = 0;
    }
  }
  return true;
}

bool WireReader::Skip(size_t count) {
  return Advance(count, [](std::span<const std::byte>) {});
}

bool WireReader::Slice(size_t count, Fragments& pieces) {
  return Advance(count, [&pieces](std::span<const std::byte> bytes) { pieces.Append(bytes); });
}

bool WireReader::Read(std::byte* destination, size_t count) {
  return Advance(count, [&destination](std::span<const std::byte> bytes) {
    std::memcpy(destination, bytes.data(), bytes.size());
    destination += bytes.size();
  });
}

bool WireReader::ReadVarint(uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    std::byte byte{};
    if (!Read(&byte, 1)) return false;
    const auto bits = static_cast<uint64_t>(byte & std::byte{0x7f});
    if (shift == 63 && bits > 1) return false;
    value |= bits << shift;
    if ((byte & std::byte{0x80}) == std::byte{0}) return true;
  }
  return false;
}

bool WireReader::ReadField(Field& field) {
  uint64_t tag = 0;
  if (!ReadVarint(tag)) return false;
  field = {.number = tag >> 3, .type = static_cast<Type>(tag & 7), .length = 0};
  if (field.number == 0) return false;
  switch (field.type) {
    case Type::kVarint:
    case Type::kFixed32:
    case Type::kFixed64:
      return true;
    case Type::kBytes: {
      uint64_t length = 0;
      if (!ReadVarint(length) || length > remaining_) return false;
      field.length = static_cast<size_t>(length);
      return true;
    }
  }
  return false;
}

bool WireReader::SkipField(const Field& field) {
  uint64_t ignored = 0;
  switch (field.type) {
    case Type::kVarint:
      return ReadVarint(ignored);
    case Type::kFixed64:
      return Skip(sizeof(uint64_t));
    case Type::kFixed32:
      return Skip(sizeof(uint32_t));
    case Type::kBytes:
      return Skip(field.length);
  }
  return false;
}

}  // namespace opserve::client
