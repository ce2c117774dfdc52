// Random messages in random pieces, for the tests of server/wire.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <grpcpp/support/byte_buffer.h>

#include "core/base/fragments.h"
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

// In slices of 1 to 1000 bytes.
inline grpc::ByteBuffer InSlices(std::string_view bytes, testing::Rng& rng) {
  std::vector<grpc::Slice> slices;
  while (!bytes.empty()) {
    const size_t size = std::min(bytes.size(), 1 + Below(rng, 1000));
    slices.emplace_back(bytes.data(), size);
    bytes.remove_prefix(size);
  }
  return grpc::ByteBuffer(slices.data(), slices.size());
}

inline std::string Flatten(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(buffer.Dump(&slices).ok());
  std::string bytes;
  for (const grpc::Slice& slice : slices)
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return bytes;
}

inline std::string Flatten(const Fragments& fragments) {
  std::string bytes(fragments.size_bytes(), '\0');
  fragments.CopyTo(reinterpret_cast<std::byte*>(bytes.data()), 0, bytes.size());
  return bytes;
}

}  // namespace opserve::server
