// Random messages in random pieces, for the tests of server/codec.
#pragma once

#include <algorithm>
#include <cstddef>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/fragments.h"
#include "server/codec/raw_writer.h"
#include "tests/support/seed.h"

namespace opserve::server {

inline size_t Below(testing::Rng& rng, size_t bound) {
  return std::uniform_int_distribution<size_t>(0, bound - 1)(rng);
}

inline std::string RandomBytes(testing::Rng& rng, size_t size) {
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(rng());
  return bytes;
}

// In pieces of 1 to 1000 bytes, which point into `bytes`.
inline std::vector<std::span<const std::byte>> InPieces(std::string_view bytes, testing::Rng& rng) {
  std::vector<std::span<const std::byte>> pieces;
  while (!bytes.empty()) {
    const size_t size = std::min(bytes.size(), 1 + Below(rng, 1000));
    pieces.push_back(std::as_bytes(std::span(bytes.data(), size)));
    bytes.remove_prefix(size);
  }
  return pieces;
}

inline std::string Flatten(const WrittenMessage& message) {
  std::string bytes = message.begin;
  for (const WrittenMessage::Entry& entry : message.entries) {
    bytes.append(reinterpret_cast<const char*>(entry.bytes.data()), entry.bytes.size());
    bytes.append(entry.after);
  }
  return bytes;
}

inline std::string Flatten(const Fragments& fragments) {
  std::string bytes(fragments.size_bytes(), '\0');
  fragments.CopyTo(reinterpret_cast<std::byte*>(bytes.data()), 0, bytes.size());
  return bytes;
}

}  // namespace opserve::server
