// What a load and the echo server say to each other: every message of either starts with this, on a
// little-endian machine. The rest is bytes without meaning.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace opserve::bench {

struct EchoHeader {
  uint64_t sequence = 0;      // the answers' is the request's
  uint64_t answer_bytes = 0;  // size of each answer, at least the header's; 0 in an answer
  uint32_t answers = 0;  // how many to send (a unary call gets one); in an answer, how many follow
  uint32_t later_answers =
      0;  // added to those that follow: other requests of this sequence have them
  uint32_t check = kCheck;
  uint32_t unused = 0;

  static constexpr uint32_t kCheck = 0x6f686365;
};
inline constexpr size_t kEchoHeaderBytes = sizeof(EchoHeader);
static_assert(kEchoHeaderBytes == 32);

// Overwrites the start of `bytes`, which grows to the header's size if it is shorter.
inline void WriteEchoHeader(const EchoHeader& header, std::string& bytes) {
  if (bytes.size() < kEchoHeaderBytes) bytes.resize(kEchoHeaderBytes);
  std::memcpy(bytes.data(), &header, kEchoHeaderBytes);
}

// False when `bytes` do not start with a header.
inline bool ReadEchoHeader(std::string_view bytes, EchoHeader& header) {
  if (bytes.size() < kEchoHeaderBytes) return false;
  std::memcpy(&header, bytes.data(), kEchoHeaderBytes);
  return header.check == EchoHeader::kCheck;
}

}  // namespace opserve::bench
